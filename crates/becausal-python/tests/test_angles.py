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
def test_an_angle_is_one_circular_state_that_the_agent_sees_as_it_is(first, tmp_path) -> None:
    seen = []

    def agent(observation):
        seen.append(np.array(observation))
        return int(observation[0] > first + 1)

    def maker():
        return make(first)

    log = becausal.record(maker, agent, rows=400, explore=[0.0], names=["angle", "speed"], angles=["angle"])
    assert log.schema.states == ["angle", "speed"]
    column = log.schema.columns[0]
    assert column["kind"] == "circular" and column["low"] == pytest.approx(first)
    assert column["high"] == pytest.approx(first + 2 * np.pi)
    data = log.to_dict()
    assert np.ptp(data["angle"]) > 4 and data["angle"].min() >= first
    assert (data["action"] == "1").tolist() == (data["angle"] > first + 1).tolist()
    for ending in ("csv", "parquet", "npz"):
        log.save(tmp_path / f"dial.{ending}")
        again = becausal.read(tmp_path / f"dial.{ending}")
        assert again.schema.columns == log.schema.columns
        assert np.array_equal(again.to_dict()["angle"], data["angle"])
    run = becausal.fit(log, members=1, steps=50)
    seen.clear()
    moment = run.recorded(0, 3)
    answer = run.why_not(moment, "0" if moment.action["action"] == "1" else "1", horizon=30)
    assert "angle" in answer.text
    angles = np.array(seen)[:, 0]
    assert angles.min() >= first - 1e-6 and angles.max() <= first + 2 * np.pi + 1e-6, "what the model imagines is an angle, too"
    # What is beyond the end of the circle is not beyond the data.
    turned = run.what_if(run.recorded(0, 3), {"angle": first + 2 * np.pi + 0.5})
    assert "angle" in turned.text
    played = run.play(seed=1)
    run.save(tmp_path / "dial")
    assert becausal.open(tmp_path / "dial", env=maker, policy=agent).play(seed=1).reward == played.reward


def test_rules_are_about_the_numbers_that_expressions_see() -> None:
    class Winding(Dial):
        """The same hand, whose turns are counted on; an episode ends where it points back."""

        def _seen(self):
            return np.array([self.angle, self.speed])

        def step(self, action):
            seen, reward, _, _, info = super().step(action)
            return seen, 0.0, bool(abs(np.angle(np.exp(1j * self.angle))) > 2.5), False, info

    def maker():
        return gymnasium.wrappers.TimeLimit(Winding(), 50)

    log = becausal.record(maker, rows=2000, seed=1, names=["angle", "speed"], angles=["angle"])
    angles = log.to_dict()["angle'"]
    assert angles.min() >= -np.pi and angles.max() < np.pi
    assert log._contradictions()[1] == 0, log.notes


def test_angles_have_to_be_numbers_of_the_observation() -> None:
    with pytest.raises(ValueError, match="'tilt', expected numbers of the observation: angle, speed"):
        becausal.record(make, rows=10, names=["angle", "speed"], angles=["tilt"])
    schema = becausal.Schema.of(make, angles=["observation_0"])
    assert [column["kind"] for column in schema.columns[:2]] == ["circular", "continuous"]
    with pytest.raises(ValueError, match="`angles`"):
        becausal.record(make, rows=10, schema=schema, angles=["observation_0"])
    with pytest.raises(ValueError, match="`angles`"):
        becausal.read({"x": [1.0]}, schema=schema, angles=["x"])
