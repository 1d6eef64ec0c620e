"""Formulas for rewards that are found in recorded rows."""

from __future__ import annotations

import numpy as np
import pytest

import becausal
from becausal._formulas import formula_of


def column(name: str, role: str, kind: str = "continuous", labels: tuple[str, ...] = ()) -> dict:
    return {"name": name, "kind": kind, "labels": list(labels), "role": role}


COLUMNS = [
    column("x", "state"),
    column("y", "state"),
    column("push", "action"),
    column("x'", "next"),
    column("y'", "next"),
    column("room'", "next", "categorical", ("hall", "cellar")),
]


def rows(count: int = 4000):
    random = np.random.default_rng(0)
    values = random.normal(size=(count, len(COLUMNS)))
    values[:, 5] = random.integers(2, size=count)
    return values, np.arange(count) // 20, random


def test_an_exact_formula_is_found_in_round_numbers() -> None:
    values, episodes, _ = rows()
    _, _, push, x_after, y_after, room = values.T
    found = formula_of(values, COLUMNS, 3 - 0.5 * x_after - 0.001 * push**2, episodes)
    assert found is not None and found.is_exact
    assert found.terms == {"x": "-0.5 * x'", "push": "-0.001 * push^2", "every step": "3"}
    found = formula_of(values, COLUMNS, -np.hypot(x_after, y_after) + 2.0 * (room == 1), episodes)
    assert found is not None and found.is_exact
    # One of two labels is enough, and which is chosen does not matter.
    assert found.terms["x and y"] == "-hypot(x', y')" and "room' == " in found.terms["room"]


def test_what_reads_the_same_variable_is_one_term_and_the_end_has_its_own() -> None:
    values, episodes, _ = rows()
    x, _, _, x_after, _, _ = values.T
    ended = x_after > 2
    found = formula_of(values, COLUMNS, 0.25 * x + 0.75 * x_after + np.where(ended, -10.0, 1.0), episodes, "x' > 2", ended)
    assert found is not None and found.is_exact
    assert found.terms["end"] == "if(x' > 2, -10, 1)"
    assert sorted(found.terms["x"].split(" + ")) == ["0.25 * x", "0.75 * x'"]


def test_a_formula_may_leave_a_little() -> None:
    values, episodes, random = rows()
    noise = 0.1 * random.normal(size=len(values))
    found = formula_of(values, COLUMNS, 2 * values[:, 3] + noise, episodes)
    assert found is not None and not found.is_exact and 0.04 < found.left < 0.06
    assert list(found.terms) in (["x"], ["x", "every step"])
    weight, name = found.terms["x"].split(" * ")
    assert name == "x'" and abs(float(weight) - 2) < 0.01


@pytest.mark.parametrize(
    "paid",
    [
        lambda values: np.random.default_rng(1).normal(size=len(values)),  # no function of the values
        lambda values: np.sin(9 * values[:, 3]),  # not a short one
        lambda values: np.zeros(len(values)),
        lambda values: values[:, 3] + np.random.default_rng(2).normal(size=len(values)),  # most of it is left
    ],
)
def test_what_follows_no_short_formula_has_none(paid) -> None:
    values, episodes, _ = rows()
    assert formula_of(values, COLUMNS, paid(values), episodes) is None


class Slide:
    """Makes an environment whose reward is a formula of the next state, and a little that is not."""

    def __init__(self, unseen: float) -> None:
        self.unseen = unseen

    def __call__(self):
        gymnasium = pytest.importorskip("gymnasium")

        class Env(gymnasium.Env):
            observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float64)
            action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float64)
            unseen = self.unseen

            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                self.at = self.np_random.normal(size=2)
                self.steps = 0
                return self.at.copy(), {}

            def step(self, action):
                place, speed = self.at
                speed = 0.9 * speed + 0.3 * float(action[0])
                self.at = np.array([place + 0.2 * speed, speed])
                self.steps += 1
                paid = 2 * self.at[1] - 0.5 * float(action[0]) ** 2 + self.unseen * np.sin(7 * place)
                return self.at.copy(), paid, bool(abs(self.at[0]) > 3), self.steps >= 50, {}

        return Env()


def test_an_exact_formula_leaves_nothing_to_learn() -> None:
    log = becausal.record(Slide(0.0), rows=3000, names=["place", "speed"], actions=["push"])
    assert log.schema.outcomes == [] or log.schema.outcomes == ["over"]
    assert log.schema.rewards == {"speed": "2 * speed'", "push": "-0.5 * push^2"}
    assert log._contradictions()[0] == 0
    assert any("is a sum of terms in every row" in note for note in log.notes)


def test_the_rest_of_a_formula_is_an_outcome_that_makes_the_terms_sum_to_the_reward(tmp_path) -> None:
    log = becausal.record(Slide(0.1), rows=3000, names=["place", "speed"], actions=["push"])
    assert "remainder" in log.schema.outcomes and "paid" not in log.schema.outcomes
    assert log.schema.rewards["remainder"] == "remainder"
    assert log._contradictions()[0] == 0
    recorded = log.to_dict()
    expected = 0.1 * np.sin(7 * recorded["place"])
    assert np.corrcoef(recorded["remainder"], expected)[0, 1] > 0.99
    run = becausal.fit(log, members=1, steps=50)
    audit = run.audit(states=5, policy="random")
    # A run that is opened again still knows what the rest is.
    run.save(tmp_path / "run")
    again = becausal.open(tmp_path / "run", env=Slide(0.1))
    assert again.audit(states=5, policy="random").precision == audit.precision
    learned = becausal.record(Slide(0.1), rows=3000, names=["place", "speed"], actions=["push"], reward="learn")
    assert "paid" in learned.schema.outcomes and not learned.notes


def test_the_part_that_is_known_can_be_given_and_the_rest_learned() -> None:
    reward = {"speed": "2 * speed'", "remainder": "remainder"}
    log = becausal.record(Slide(0.0), rows=500, names=["place", "speed"], actions=["push"], reward=reward)
    recorded = log.to_dict()
    assert np.allclose(recorded["remainder"], -0.5 * recorded["push"] ** 2)


def test_a_distance_is_found_with_the_number_it_is_from() -> None:
    values, episodes, _ = rows()
    found = formula_of(values, COLUMNS, -2 * np.abs(values[:, 3] - 0.7) + 0.1 * values[:, 2], episodes)
    assert found is not None and found.is_exact
    assert found.terms == {"push": "0.1 * push", "x": "-2 * abs(x' - 0.7)"}
    found = formula_of(values, COLUMNS, -np.abs(values[:, 4] + 1.25), episodes)
    assert found is not None and found.terms == {"y": "-abs(y' + 1.25)"}
