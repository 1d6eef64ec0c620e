"""Times what docs/python.md says about speed: recording beside SB3's own loop, and steps of our lander beside Gymnasium's.

    python scripts/python_speed.py [ROWS]        default: 20000; processor seconds of one process; 0: only the steps
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings

warnings.simplefilter("ignore")

import gymnasium  # noqa: E402
import torch  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402

import becausal  # noqa: E402

ROUNDS = 9

torch.set_num_threads(1)
rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000


def steps_per_second(id: str, count: int, seed: int) -> float:
    """Steps per processor second, through the wrappers of `gymnasium.make`."""
    env = gymnasium.make(id, disable_env_checker=True)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    actions = [env.action_space.sample() for _ in range(count)]
    begun = time.process_time()
    for number, action in enumerate(actions):
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset(seed=number)
    return count / (time.process_time() - begun)


# In turn, so that whatever else the machine does slows both down.
ratios = []
for seed in range(ROUNDS):
    theirs, ours = (steps_per_second(id, 5000, seed) for id in ("LunarLander-v3", "becausal/LunarLander-v3"))
    ratios.append(ours / theirs)
    print(f"LunarLander-v3: {theirs:.0f} steps per processor second, ours {ours:.0f}: {ratios[-1]:.2f} times")
print(f"median of {ROUNDS} rounds: {statistics.median(ratios):.2f} times")
if rows == 0:
    sys.exit()

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
