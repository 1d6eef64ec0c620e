"""Times what docs/python.md says about speed: recording beside SB3's own loop, and steps of our lander beside Gymnasium's.

    python scripts/python_speed.py [ROWS]        default: 20000; processor seconds of one process
"""

from __future__ import annotations

import sys
import time
import warnings

warnings.simplefilter("ignore")

import gymnasium  # noqa: E402
import torch  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402

import becausal  # noqa: E402

torch.set_num_threads(1)
rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000

for id in ("LunarLander-v3", "becausal/LunarLander-v3"):
    env = gymnasium.make(id, disable_env_checker=True)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(5000)]
    begun = time.process_time()
    for seed, action in enumerate(actions):
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset(seed=seed)
    print(f"{id}: {len(actions) / (time.process_time() - begun):.0f} steps per processor second")

agent = PPO("MlpPolicy", "LunarLander-v3", n_steps=256, seed=0).learn(256)
begun = time.process_time()
becausal.record("LunarLander-v3", agent, rows=rows, progress=False)
recorded = time.process_time() - begun
env = gymnasium.make("LunarLander-v3")
observation, _ = env.reset(seed=0)
begun = time.process_time()
for _ in range(rows):
    action, _ = agent.predict(observation, deterministic=True)
    observation, _, terminated, truncated, _ = env.step(int(action))
    if terminated or truncated:
        observation, _ = env.reset()
alone = time.process_time() - begun
print(f"{rows} rows of LunarLander-v3 with PPO: record {recorded:.1f} s, SB3's own loop {alone:.1f} s, {recorded / alone:.2f} times")
