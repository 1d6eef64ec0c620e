"""Rules for rewards and ends that are found in recorded rows."""

from __future__ import annotations

import numpy as np
import pytest

import becausal
from becausal._rules import rule_of

COLUMNS = [
    {"name": "x'", "kind": "continuous", "labels": []},
    {"name": "room'", "kind": "categorical", "labels": ["hall", "cellar", "attic"]},
    {"name": "lit'", "kind": "boolean", "labels": []},
]


def rows(count: int = 4000):
    random = np.random.default_rng(0)
    values = np.stack(
        [random.normal(size=count), random.integers(3, size=count), random.integers(2, size=count)], axis=1
    ).astype(float)
    return values, np.arange(count) // 20


def test_a_rule_is_found_in_round_numbers() -> None:
    values, episodes = rows()
    x, room, lit = values.T
    assert rule_of(values, COLUMNS, x > 1.5, episodes) == "x' > 1.5"
    assert rule_of(values, COLUMNS, np.abs(x) > 1, episodes) == "x' > 1.0 || x' <= -1.0"
    assert rule_of(values, COLUMNS, (room == 2) & (lit == 1), episodes) == "room' == \"attic\" && lit'"
    paid = np.where(room == 1, -10.0, 1.0)
    assert rule_of(values, COLUMNS, paid, episodes) == "if(room' == \"cellar\", (0 - 10.0), 1.0)"


@pytest.mark.parametrize(
    "answers",
    [
        lambda values: np.random.default_rng(1).random(len(values)) < 0.1,  # no function of the values
        lambda values: values[:, 0] + values[:, 0][::-1] > 2,  # of more than the values
        lambda values: np.sin(40 * values[:, 0]) > 0,  # too long to be read
        lambda values: np.arange(len(values)) < 10,  # too few to tell
        lambda values: np.zeros(len(values), dtype=bool),
    ],
)
def test_what_follows_no_short_rule_has_none(answers) -> None:
    values, episodes = rows()
    assert rule_of(values, COLUMNS, answers(values), episodes) is None


def test_one_exception_is_enough_against_a_rule() -> None:
    values, episodes = rows()
    answers = values[:, 0] > 1.5
    answers[np.argmin(values[:, 0])] = True
    assert rule_of(values, COLUMNS, answers, episodes) is None


def test_the_end_of_a_recorded_environment_is_a_rule_of_the_next_state() -> None:
    pytest.importorskip("gymnasium")
    log = becausal.record("FrozenLake-v1", rows=3000)
    assert log.schema.outcomes == ["paid"] and "over" not in log.schema.end
    assert "row' == \"1\" && column' == \"1\"" in log.schema.end
    assert any("the end follows a rule in every row" in note for note in log.notes)
    assert log._contradictions() == (0, 0)
    learned = becausal.record("FrozenLake-v1", rows=3000, reward="learn")
    assert learned.schema.outcomes == ["paid", "over"] and not learned.notes
