"""Explains an SB3 agent in each of nine Gymnasium environments, and prints the table of docs/python.md.

    python scripts/python_table.py [NAME ...]        pendulum angle acrobot mountaincar taxi doorkey hopper lander frozenlake
    python scripts/python_table.py agents [NAME ...] only trains the agents
    python scripts/python_table.py table             only prints what was kept

Each row trains an agent, records 20,000 rows, fits with the default settings, and audits 60 states under the agent's
policy and 60 under random actions. It takes 3 to 10 minutes a row on two cores. Agents are kept in target/python-agents,
the lines in target/python-table.jsonl, and the table is printed from all of them.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from gymnasium import spaces  # noqa: E402
from stable_baselines3 import PPO  # noqa: E402
from stable_baselines3.common.env_util import make_vec_env  # noqa: E402

import becausal  # noqa: E402
from python_angles import REWARD  # noqa: E402
from python_angles import make as make_angle  # noqa: E402

ROWS = 20_000
TARGET = Path(__file__).resolve().parents[1] / "target"
KEPT = TARGET / "python-table.jsonl"
AGENTS = TARGET / "python-agents"


class DoorKey(gymnasium.ObservationWrapper):
    """MiniGrid-DoorKey as what is in it: where the agent is, where key and door are, and how they are."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        size = env.unwrapped.width
        parts = {name: spaces.Discrete(size) for name in ("x", "y", "door_x", "door_y", "key_x", "key_y")}
        parts |= {"facing": spaces.Discrete(4)}
        parts |= {name: spaces.Discrete(2) for name in ("carrying", "is_open", "is_locked")}
        self.observation_space = spaces.Dict(parts)

    def observation(self, observation):
        it = self.env.unwrapped
        where = {"door": (0, 0), "key": (0, 0)}
        door = None
        for place, thing in enumerate(it.grid.grid):
            if thing is not None and thing.type in where:
                where[thing.type] = (place % it.width, place // it.width)
                door = thing if thing.type == "door" else door
        values = {
            "x": it.agent_pos[0], "y": it.agent_pos[1], "facing": it.agent_dir,
            "door_x": where["door"][0], "door_y": where["door"][1], "key_x": where["key"][0], "key_y": where["key"][1],
            "carrying": it.carrying is not None, "is_open": door is not None and door.is_open,
            "is_locked": door is not None and door.is_locked,
        }  # fmt: skip
        return {name: int(values[name]) for name in self.observation_space.spaces}


def doorkey() -> gymnasium.Env:
    import minigrid  # noqa: F401

    return DoorKey(gymnasium.make("MiniGrid-DoorKey-5x5-v0"))


#: How it is recorded: what the environment does not say itself.
OPTIONS = {
    "angle": {
        "names": ["angle", "angle_velocity"],
        "actions": ["torque"],
        "angles": ["angle"],
        "reward": REWARD,
    }
}

#: Environments that a function makes.
TITLES = {"doorkey": "MiniGrid-DoorKey-5x5-v0", "angle": "Pendulum-v1, the angle itself"}

PENDULUM = ["cos_angle", "sin_angle", "angle_velocity", "torque"]
ACROBOT = ["cos_1", "sin_1", "cos_2", "sin_2", "velocity_1", "velocity_2", "torque"]
CAR = ["position", "velocity", "push"]
TAXI = ["row", "column", "passenger", "destination", "drive"]
LAKE = ["row", "column", "go"]

#: name: environment, policy class, training steps, and the true causes of each effect where the rules are known.
SUBJECTS = {
    "pendulum": ("Pendulum-v1", "MlpPolicy", 30_000, {
        "cos_angle'": PENDULUM, "sin_angle'": PENDULUM, "angle_velocity'": PENDULUM[1:]}),
    "angle": (make_angle, "MlpPolicy", 30_000, {
        effect: ["angle", "angle_velocity", "torque"] for effect in ("angle'", "angle_velocity'")}),
    "acrobot": ("Acrobot-v1", "MlpPolicy", 30_000, {f"{name}'": ACROBOT for name in ACROBOT[:-1]}),
    "mountaincar": ("MountainCar-v0", "MlpPolicy", 30_000, {"position'": CAR, "velocity'": CAR}),
    "taxi": ("Taxi-v4", "MlpPolicy", 30_000, {
        "row'": ["row", "drive"], "column'": ["row", "column", "drive"], "passenger'": TAXI,
        "destination'": ["destination"], "paid": TAXI, "over": TAXI}),
    "doorkey": (doorkey, "MultiInputPolicy", 100_000, None),
    "hopper": ("Hopper-v5", "MlpPolicy", 30_000, None),
    "lander": ("LunarLander-v3", "MlpPolicy", 1_000_000, None),
    "frozenlake": ("FrozenLake-v1", "MlpPolicy", 20_000, {
        "row'": ["row", "go"], "column'": ["column", "go"], "paid": LAKE, "over": LAKE}),
}  # fmt: skip


def swing(observation) -> int:
    """MountainCar is never solved by chance, so PPO has nothing to learn from: this pushes the way the car moves."""
    return 2 if observation[1] >= 0 else 0


#: Copies of the environment, and settings where SB3's defaults take several times as many steps: those of SB3's zoo for
#: LunarLander; for DoorKey more copies, shorter rollouts and an entropy bonus, without which it hardly ever gets to the door.
SETTINGS = {
    "lander": (16, {"n_steps": 1024, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4, "ent_coef": 0.01}),
    "doorkey": (8, {"n_steps": 256, "batch_size": 256, "ent_coef": 0.01}),
}


def trained(name: str):
    """The agent of a row, trained once and kept."""
    env, kind, steps, _ = SUBJECTS[name]
    if name == "mountaincar":
        return swing
    path = AGENTS / f"{name}-{steps}.zip"
    if path.exists():
        return PPO.load(path, device="cpu")
    if name in SETTINGS:
        copies, settings = SETTINGS[name]
        agent = PPO(kind, make_vec_env(env, copies, seed=0), seed=0, device="cpu", **settings)
    else:
        agent = PPO(kind, env() if callable(env) else gymnasium.make(env), seed=0, device="cpu")
    agent.learn(steps).save(path)
    return agent


def examine(name: str) -> dict:
    env, _, _, truth = SUBJECTS[name]
    agent = trained(name)
    begun = time.time()
    log = becausal.record(env, agent, rows=ROWS, seed=0, **OPTIONS.get(name, {}))
    recorded = time.time() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    before = used.ru_utime + used.ru_stime
    run = becausal.fit(log)
    used = resource.getrusage(resource.RUSAGE_SELF)
    fitted = used.ru_utime + used.ru_stime - before
    run.save(KEPT.parent / "python-table" / name)
    scores = {effect: score["error"] for effect, score in run.scores().items()}
    pairs = run.graph.pairs
    edges = {(pair["cause"], pair["effect"]) for pair in pairs if pair["verdict"] == "edge"}
    # An outcome that follows a rule of the next state is not an effect.
    effects = [effect for effect in truth or {} if effect in run.graph.effects]
    true = {(cause, effect) for effect in effects for cause in truth[effect]} if truth else None
    row = {
        "name": name,
        "environment": TITLES.get(name, log.schema.name),
        "episodes": log.episodes,
        "own": float(log.own.mean()),
        "edges": len(edges),
        "pairs": len(pairs),
        "true": len(true) if true is not None else None,
        "false_edges": sorted(map(list, edges - true)) if true is not None else None,
        "states": [error for effect, error in scores.items() if effect.endswith("'")],
        "paid": paid_error(log, scores),
        "over": scores.get("over"),
        "record_seconds": recorded,
        "fit_cpu_seconds": fitted,
    }
    begun = time.time()
    moment = run.play(seed=3).at(1)
    asked = time.time()
    run.why(moment)
    row["why_seconds"] = time.time() - asked
    row["returns"] = [run.play(seed=seed).reward for seed in range(100, 120)]
    for who in (None, "random"):
        audit = run.audit(states=60, policy=who)
        row["audit_random" if who else "audit"] = [audit.precision, audit.recall, audit.sign]
    row["audit_seconds"] = time.time() - begun
    return row


def paid_error(log: becausal.Log, scores: dict) -> float | None:
    """The error of what is learned of the reward, in standard deviations of the reward."""
    if "remainder" not in scores:
        return scores.get("paid")
    recorded = log.to_dict()
    return scores["remainder"] * float(np.std(recorded["remainder"]) / np.std(recorded["reward"]))


def shown(value, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def table(rows: list[dict]) -> str:
    lines = [
        "| environment | edges found / true (false) | states: mean error, largest | paid / over | fit, processor s | "
        "audit under its policy: precision / recall / sign | under random actions |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        true = f"{row['edges']} / {row['true']} ({len(row['false_edges'])})" if row["true"] else f"{row['edges']} of {row['pairs']}"
        states = f"{percent(np.mean(row['states']))}, {percent(max(row['states']))}"
        audits = [" / ".join(shown(value) for value in row[key]) for key in ("audit", "audit_random")]
        lines.append(
            f"| {row['environment']} | {true} | {states} | {percent(row['paid'])} / {percent(row['over'])} | "
            f"{row['fit_cpu_seconds']:.0f} | {audits[0]} | {audits[1]} |"
        )
    return "\n".join(lines)


def main() -> None:
    KEPT.parent.mkdir(exist_ok=True)
    asked = sys.argv[1:]
    only_table, only_agents = "table" in asked, "agents" in asked
    names = [name for name in asked if name not in ("table", "agents")] or ([] if only_table else list(SUBJECTS))
    unknown = [name for name in names if name not in SUBJECTS]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; expected {', '.join(SUBJECTS)}, agents or table")
    torch.set_num_threads(1)
    if only_agents:
        for name in names:
            trained(name)
            print(f"{name}: trained", flush=True)
        return
    for name in names:
        row = examine(name)
        print(json.dumps(row), flush=True)
        with KEPT.open("a") as file:
            file.write(json.dumps(row) + "\n")
    latest = {}
    if KEPT.exists():
        for line in KEPT.read_text().splitlines():
            row = json.loads(line)
            latest[row["name"]] = row
    print(table([latest[name] for name in SUBJECTS if name in latest]))


if __name__ == "__main__":
    main()
