"""Rules that recorded steps follow: a reward or an end as an expression of the state after the step.

An outcome that is learned is predicted from state and action. Many ends and rewards are plain functions of where a step
leads: the goal was reached, the pole has fallen. Where a small decision tree says the same as every recorded row, and
trees of half the episodes say it in the other half, its expression is exact where a learned outcome is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

#: Rows of the rarest value, at least: half of them find the rule, the other half check it.
_MIN_ROWS = 20

#: Questions on the way to an answer, and answers, at most: a longer rule is not one that anybody would read.
_MAX_DEPTH, _MAX_LEAVES = 6, 12

#: Wrong answers of a rule of half the episodes in the other half, at most, as a share of the rows of the rarest value. A
#: threshold that lies between two numbers of one half need not lie between those of the other.
_MAX_MISSED = 0.05

#: Rows of a leaf, at least. A leaf of fewer describes accidents.
_MIN_LEAF = 3


@dataclass
class _Split:
    column: int
    #: A number that the value is above, or the place of a label that it is.
    at: float
    yes: "_Tree"
    no: "_Tree"


_Tree = Union[_Split, float]


def rule_of(
    values: np.ndarray, columns: Sequence[Mapping[str, Any]], answers: np.ndarray, episodes: np.ndarray
) -> Optional[str]:
    """An expression that gives `answers` (booleans or numbers, few of them) in every row; `None` where there is none.

    `values` has a column for each of `columns`, which are those of a schema."""
    kinds, rows = np.unique(answers, return_counts=True)
    if len(kinds) < 2 or rows.min() < _MIN_ROWS:
        return None
    is_label = np.array([bool(column["labels"]) for column in columns])
    half = episodes % 2 == 0
    for seen, unseen in ((half, ~half), (~half, half)):
        tree = _grown(values[seen], answers[seen], is_label, _MAX_DEPTH) if seen.any() and unseen.any() else None
        if tree is None:
            return None
        wrong = (_answered(tree, values[unseen], is_label) != answers[unseen]).sum()
        if wrong > _MAX_MISSED * rows.min():
            return None
    tree = _grown(values, answers, is_label, _MAX_DEPTH)
    if tree is None or _leaves(tree) > _MAX_LEAVES:
        return None
    if answers.dtype == bool:
        return " || ".join(_condition(way, columns) for way in _ways(tree))
    return _nested(tree, columns)


def _grown(values: np.ndarray, answers: np.ndarray, is_label: np.ndarray, depth: int) -> Optional[_Tree]:
    """A tree that answers every row right, each split chosen so that its halves are as pure as can be."""
    kinds = np.unique(answers)
    if len(kinds) == 1:
        return float(kinds[0]) if len(answers) >= _MIN_LEAF else None
    if depth == 0:
        return None
    best: tuple[float, int, float] = (math.inf, -1, 0.0)
    hot = (answers[:, None] == kinds[None, :]).astype(np.float64)
    for column in range(values.shape[1]):
        impurity, at = _best_split(values[:, column], hot, bool(is_label[column]))
        if impurity < best[0]:
            best = (impurity, column, at)
    _, column, at = best
    if column < 0:
        return None
    yes = _is_yes(values[:, column], at, bool(is_label[column]))
    grown = [_grown(values[part], answers[part], is_label, depth - 1) for part in (yes, ~yes)]
    if grown[0] is None or grown[1] is None:
        return None
    return _Split(column, at, grown[0], grown[1])


def _is_yes(values: np.ndarray, at: float, is_label: bool) -> np.ndarray:
    return values == at if is_label else values > at


def _best_split(values: np.ndarray, hot: np.ndarray, is_label: bool) -> tuple[float, float]:
    """The least Gini impurity, times rows, that a split of this column leaves, and where it is."""
    total = hot.sum(axis=0)
    if is_label:
        # Every label against the rest.
        levels, where = np.unique(values, return_inverse=True)
        below = np.zeros((len(levels), hot.shape[1]))
        np.add.at(below, where, hot)
    else:
        levels, counts = np.unique(values, return_counts=True)
        below = np.cumsum(hot[np.argsort(values, kind="stable")], axis=0)[np.cumsum(counts) - 1][:-1]
    if len(levels) < 2:
        return math.inf, 0.0
    above = total - below
    impurity = sum(side.sum(axis=1) - (side**2).sum(axis=1) / side.sum(axis=1) for side in (below, above))
    place = int(np.argmin(impurity))
    at = float(levels[place]) if is_label else _shortest(float(levels[place]), float(levels[place + 1]))
    return float(impurity[place]), at


def _shortest(low: float, high: float) -> float:
    """The number with the fewest decimals from `low` on that is below `high`: rules are written in round numbers."""
    for digits in range(-3, 17):
        at = math.ceil(low * 10.0**digits) / 10.0**digits
        if low <= at < high:
            return at
    return low


def _answered(tree: _Tree, values: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    if not isinstance(tree, _Split):
        return np.full(len(values), tree)
    yes = _is_yes(values[:, tree.column], tree.at, bool(is_label[tree.column]))
    answers = np.empty(len(values))
    answers[yes] = _answered(tree.yes, values[yes], is_label)
    answers[~yes] = _answered(tree.no, values[~yes], is_label)
    return answers


def _leaves(tree: _Tree) -> int:
    return _leaves(tree.yes) + _leaves(tree.no) if isinstance(tree, _Split) else 1


def _quoted(label: str) -> str:
    """A label in an expression, which knows no escapes; a schema refuses labels with quotation marks."""
    return f'"{label}"'


def _question(split: _Split, columns: Sequence[Mapping[str, Any]]) -> str:
    column = columns[split.column]
    if column["labels"]:
        return f"{column['name']} == {_quoted(column['labels'][int(split.at)])}"
    return str(column["name"]) if column["kind"] == "boolean" else f"{column['name']} > {split.at!r}"


def _ways(tree: _Tree) -> list[list[tuple[int, float, bool]]]:
    """The ways to a yes: column, where it is split, and on which side."""
    if not isinstance(tree, _Split):
        return [[]] if tree else []
    yes = [[(tree.column, tree.at, True), *way] for way in _ways(tree.yes)]
    return yes + [[(tree.column, tree.at, False), *way] for way in _ways(tree.no)]


def _condition(way: Sequence[tuple[int, float, bool]], columns: Sequence[Mapping[str, Any]]) -> str:
    """A way in as few words as can be."""
    parts: list[str] = []
    for at in dict.fromkeys(column for column, _, _ in way):
        column, name = columns[at], columns[at]["name"]
        yes = [split for place, split, is_yes in way if place == at and is_yes]
        no = [split for place, split, is_yes in way if place == at and not is_yes]
        if column["labels"]:
            left = [int(split) for split in yes] or [n for n in range(len(column["labels"])) if n not in no]
            if len(left) == 1:
                parts.append(f"{name} == {_quoted(column['labels'][left[0]])}")
            else:
                parts += [f"{name} != {_quoted(column['labels'][int(split)])}" for split in no]
        elif column["kind"] == "boolean":
            parts.append(name if yes else f"!{name}")
        else:
            parts += [f"{name} > {max(yes)!r}"] if yes else []
            parts += [f"{name} <= {min(no)!r}"] if no else []
    return " && ".join(parts)


def _nested(tree: _Tree, columns: Sequence[Mapping[str, Any]]) -> str:
    if not isinstance(tree, _Split):
        return repr(tree) if tree >= 0 else f"(0 - {-tree!r})"
    yes, no = _nested(tree.yes, columns), _nested(tree.no, columns)
    return f"if({_question(tree, columns)}, {yes}, {no})"
