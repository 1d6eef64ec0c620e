"""Angles, which jump where the circle closes."""

from __future__ import annotations

import numpy as np
import pytest

import becausal

gymnasium = pytest.importorskip("gymnasium")
from gymnasium import spaces  # noqa: E402


class Dial(gymnasium.Env):
    """A hand that turns, seen as an angle from `first` on."""

    def __init__(self, first: float = -np.pi) -> None:
        self.first = first
        self.observation_space = spaces.Box(np.array([first, -1.0]), np.array([first + 2 * np.pi, 1.0]), dtype=np.float64)
        self.action_space = spaces.Discrete(3)

    def _seen(self) -> np.ndarray:
        return np.array([(self.angle - self.first) % (2 * np.pi) + self.first, self.speed])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.angle, self.speed = float(self.np_random.uniform(-np.pi, np.pi)), 0.0
        return self._seen(), {}

    def step(self, action):
        self.speed = float(np.clip(0.9 * self.speed + 0.2 * (int(action) - 1), -1.0, 1.0))
        self.angle += self.speed
        return self._seen(), float(np.cos(self.angle)), False, False, {}


def make(first: float = -np.pi) -> gymnasium.Env:
    return gymnasium.wrappers.TimeLimit(Dial(first), 50)


@pytest.mark.parametrize("first", [-np.pi, 0.0])
def test_an_angle_is_its_cosine_and_sine_and_the_agent_sees_the_angle(first, tmp_path) -> None:
    seen = []

    def agent(observation):
        seen.append(np.array(observation))
        return int(observation[0] > first + 1)

    def maker():
        return make(first)

    log = becausal.record(maker, agent, rows=400, explore=[0.0], names=["angle", "speed"], angles=["angle"])
    assert log.schema.states == ["cos_angle", "sin_angle", "speed"]
    data = log.to_dict()
    assert np.allclose(data["cos_angle"] ** 2 + data["sin_angle"] ** 2, 1.0)
    angles = np.array(seen)[:, 0]
    assert angles.min() >= first and angles.max() < first + 2 * np.pi and np.ptp(angles) > 4
    assert (data["action"] == "1").tolist() == [
        (np.arctan2(s, c) - first) % (2 * np.pi) > 1 for c, s in zip(data["cos_angle"], data["sin_angle"])
    ]
    run = becausal.fit(log, members=1, steps=50)
    played = run.play(seed=1)
    run.save(tmp_path / "dial")
    assert becausal.open(tmp_path / "dial", env=maker, policy=agent).play(seed=1).reward == played.reward


def test_angles_have_to_be_numbers_of_the_observation() -> None:
    with pytest.raises(ValueError, match="'tilt', expected numbers of the observation: angle, speed"):
        becausal.record(make, rows=10, names=["angle", "speed"], angles=["tilt"])
    schema = becausal.Schema.of(make, angles=["observation_0"])
    assert schema.states == ["cos_observation_0", "sin_observation_0", "observation_1"]
    with pytest.raises(ValueError, match="`angles`"):
        becausal.record(make, rows=10, schema=schema, angles=["observation_0"])
    with pytest.raises(ValueError, match="`angles`"):
        becausal.read({"x": [1.0]}, schema=schema, angles=["x"])
