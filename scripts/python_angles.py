"""Compares three ways to write an angle, on the same recorded rows of Pendulum: a circular state, cosine and sine, a number.

    python scripts/python_angles.py [circular] [parts] [number]

A controller that does not depend on how the state is written records 20,000 rows, a model is fitted with the default settings, and
60 states are audited under the controller and 60 under random actions.
"""

from __future__ import annotations

import sys
import warnings

warnings.simplefilter("ignore")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402
from gymnasium import spaces  # noqa: E402

import becausal  # noqa: E402

#: What Pendulum pays, by its angle.
REWARD = {
    "upright": "-angle * angle",
    "slow": "-0.1 * angle_velocity * angle_velocity",
    "effort": "-0.001 * torque * torque",
}


class Angle(gymnasium.ObservationWrapper):
    """Pendulum as its angle, from -pi to pi, and its velocity."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        high = np.array([np.pi, 8.0])
        self.observation_space = spaces.Box(-high, high, dtype=np.float64)

    def observation(self, observation):
        cosine, sine, velocity = observation.astype(np.float64)
        return np.array([np.arctan2(sine, cosine), velocity])


def make() -> gymnasium.Env:
    return Angle(gymnasium.make("Pendulum-v1"))


def control(angle, velocity):
    """Pumps energy into the pendulum, and holds it once it is up."""
    energy = velocity**2 / 6 + 5 * (np.cos(angle) - 1)
    swing = -np.sign(velocity + 1e-9) * energy
    return np.clip(np.where(np.cos(angle) > 0.9, -12 * angle - 3 * velocity, swing), -2, 2)[:, None]


def recorded(way: str) -> becausal.Log:
    if way == "parts":
        agent = becausal.batched(lambda seen: control(np.arctan2(seen[:, 1], seen[:, 0]), seen[:, 2]))
        return becausal.record("Pendulum-v1", agent, rows=20_000, seed=0)
    agent = becausal.batched(lambda seen: control(seen[:, 0], seen[:, 1]))
    angles = ["angle"] if way == "circular" else None
    names = {"names": ["angle", "angle_velocity"], "actions": ["torque"], "reward": REWARD, "angles": angles}
    return becausal.record(make, agent, rows=20_000, seed=0, **names)


def main() -> None:
    for way in sys.argv[1:] or ["circular", "parts", "number"]:
        log = recorded(way)
        run = becausal.fit(log)
        edges = sum(pair["verdict"] == "edge" for pair in run.graph.pairs)
        errors = ", ".join(f"{effect} {100 * score['error']:.2f} %" for effect, score in run.scores().items())
        cut = int((np.abs(log.to_dict()["angle_velocity'"]) > 8 - 1e-6).sum())
        print(f"== {way}: {edges} edges of {len(run.graph.pairs)} pairs; errors: {errors}; {cut} rows at the largest velocity")
        for who in (None, "random"):
            audit = run.audit(states=60, policy=who)
            print(f"audit under {who or 'the controller'}:\n{audit}", flush=True)


if __name__ == "__main__":
    main()
