"""CartPole-v1 with Stable-Baselines3's PPO and the settings of the RL zoo; called by compare-sb3.sh.

    learn SEED STEPS    learns, and prints the evaluations and seconds as JSON
    table FOLDER        prints both sides' results
"""

import csv
import json
import sys
import time
from pathlib import Path

EPISODES = 20
STEPS_BETWEEN = 5120


def clocks():
    """Seconds on the wall, and of the processor."""
    return time.perf_counter(), time.process_time()


def since(started):
    return [now - then for now, then in zip(clocks(), started)]


def learn(seed, steps):
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.evaluation import evaluate_policy

    torch.set_num_threads(1)

    class Evaluations(BaseCallback):
        """Evaluates after every 5120 steps and at the end, and keeps the time that it takes."""

        def __init__(self):
            super().__init__()
            self.means, self.seconds, self.due = [], [0.0, 0.0], STEPS_BETWEEN
            self.copies = make_vec_env("CartPole-v1", n_envs=EPISODES, seed=1_000_000 + seed)

        def evaluate(self):
            started = clocks()
            mean, _ = evaluate_policy(self.model, self.copies, n_eval_episodes=EPISODES, deterministic=True)
            self.means.append((self.model.num_timesteps, float(mean)))
            self.seconds = [sum(pair) for pair in zip(self.seconds, since(started))]

        def _on_step(self):
            return True

        # A rollout begins where the update before it has ended.
        def _on_rollout_start(self):
            if self.model.num_timesteps >= self.due:
                self.due += STEPS_BETWEEN
                self.evaluate()

        def _on_training_end(self):
            self.evaluate()

    def falling(start):
        return lambda left: left * start

    model = PPO(
        "MlpPolicy", make_vec_env("CartPole-v1", n_envs=8, seed=seed), n_steps=32, batch_size=256, gae_lambda=0.8,
        gamma=0.98, n_epochs=20, ent_coef=0.0, learning_rate=falling(0.001), clip_range=falling(0.2), seed=seed,
        device="cpu",
    )
    evaluations = Evaluations()
    started = clocks()
    model.learn(steps, callback=evaluations)
    print(json.dumps({
        "seconds": since(started), "evaluation_seconds": evaluations.seconds, "means": evaluations.means,
    }))


def table(folder):
    theirs = [json.loads((folder / f"theirs-{run}.json").read_text()) for run in (1, 2)]
    ours = []
    for run in (1, 2):
        wall, user, system = map(float, (folder / f"ours-{run}.time").read_text().split())
        ours.append([wall, user + system])
    with open(folder / "ours-1" / "metrics.csv") as file:
        rows = list(csv.DictReader(file))
    our_means = [(int(row["real_steps"]), float(row["eval/mean_reward"])) for row in rows]
    their_means = theirs[0]["means"]
    alone = [[a - b for a, b in zip(run["seconds"], run["evaluation_seconds"])] for run in theirs]
    whole = [run["seconds"] for run in theirs]

    line = "{:<45}{:>8}{:>9}{:>7}{:>12}{:>7}{:>8}{:>7}{:>14}"
    print(line.format(
        "CartPole-v1", "steps", "seconds", "ratio", "processor s", "ratio", "last", "best", "475 first at"
    ))
    least_of_ours = [min(pair) for pair in zip(*ours)]
    for name, means, runs in [
        ("Stable-Baselines3's PPO, learning alone", their_means, alone),
        (f"the same with its {len(their_means)} evaluations", their_means, whole),
        (f"becausal --model none, {len(our_means)} evaluations and all", our_means, ours),
    ]:
        wall, processor = [min(pair) for pair in zip(*runs)]
        print(line.format(
            name, f"{means[-1][0]:,}", f"{wall:.1f}", f"{wall / least_of_ours[0]:.1f}", f"{processor:.1f}",
            f"{processor / least_of_ours[1]:.1f}", f"{means[-1][1]:.1f}", f"{max(mean for _, mean in means):.1f}",
            next((f"{steps:,}" for steps, mean in means if mean >= 475), "-"),
        ))


match sys.argv[1:]:
    case ["learn", seed, steps]:
        learn(int(seed), int(steps))
    case ["table", folder]:
        table(Path(folder))
    case _:
        sys.exit(__doc__)
