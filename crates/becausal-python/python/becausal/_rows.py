"""Steps in an environment, as a log."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _becausal
from ._errors import ArgumentError
from ._formulas import Formula, formula_of
from ._gymnasium import REMAINDER, Outcomes, Reward, Views, outcomes_of, schema_from
from ._rules import rule_of

#: A column of a log: name, type (`f`, `i`, `b` or `t`), and bytes, or a list of texts.
Columns = list[tuple[str, str, Any]]


@dataclass
class Rows:
    """Steps, one row each, in the numbers of the schema."""

    #: `[rows, states]`
    states: np.ndarray
    #: `[rows, actions]`
    actions: np.ndarray
    #: `[rows, states]`: the states afterwards.
    after: np.ndarray
    #: `[rows]`
    rewards: np.ndarray
    #: `[rows]`: whether the episode ended by the rules.
    terminated: np.ndarray
    #: `[rows]`: whether it was cut short, or the record ends.
    truncated: np.ndarray
    #: `[rows]`: the number of the episode.
    episodes: np.ndarray


def log_of(
    rows: Rows,
    views: Views,
    id: str,
    schema: Optional[_becausal.Schema],
    reward: Reward,
    end: Optional[str],
    origin: Optional[dict[str, Any]] = None,
) -> tuple[_becausal.Log, Outcomes]:
    """A log of these rows, and its outcomes. Without `schema` it gets that of the environment; what is known of its
    reward and end is learned instead where the rows contradict it."""
    if not np.all(np.isfinite(rows.rewards)):
        wrong = np.flatnonzero(~np.isfinite(rows.rewards))[0]
        raise ArgumentError(
            f"{id}: the reward in row {wrong + 1} (episode {rows.episodes[wrong]}) is {rows.rewards[wrong]}, expected a "
            "finite number"
        )
    if schema is not None:
        outcomes = outcomes_of(schema, views)
        return _assembled(rows, outcomes, schema, origin), outcomes
    ended = bool(rows.terminated.any())
    outcomes = Outcomes(views, reward, end, rows.rewards, ended)
    if outcomes.is_known:
        wrong = _contradiction(_assembled(rows, outcomes, schema_from(views, outcomes, id), origin), rows)
        if wrong is not None:
            outcomes = Outcomes(views, "learn", None, rows.rewards, ended)
            outcomes.notes.append(f"the reward and end usual for {id} do not hold here and are not used: {wrong}")
    if reward != "learn":
        outcomes = _with_rules(rows, views, outcomes)
        outcomes = _with_formula(rows, views, outcomes)
    return _assembled(rows, outcomes, schema_from(views, outcomes, id), origin), outcomes


def _with_rules(rows: Rows, views: Views, learned: Outcomes) -> Outcomes:
    """Outcomes with the rules that all rows follow in place of what would be learned."""
    columns = schema_from(views, learned, "rows").columns if learned.variables else []
    after = [column for column in columns if column["role"] == "next"]
    acted = [column for column in columns if column["role"] == "action"]
    end, paid = None, None
    reached = _on_circles(rows.after, after)
    if "over" in learned.variables:
        end = rule_of(reached, after, rows.terminated, rows.episodes)
    if learned.has_few_rewards:
        values = np.concatenate([reached, rows.actions], axis=1)
        paid = rule_of(values, after + acted, rows.rewards, rows.episodes)
    found = {"the end": end, "the reward": paid}
    rules = [f"{name} follows a rule in every row: {rule}" for name, rule in found.items() if rule is not None]
    if not rules:
        return learned
    reward: Reward = {"paid": paid} if paid is not None else learned.terms
    if paid is None and (learned.learns_reward or end is not None and "survival" in learned.terms):
        reward = "learn"
    kept = end if "over" in learned.variables else learned.end
    outcomes = Outcomes(views, reward, kept, rows.rewards, bool(rows.terminated.any()))
    outcomes.notes, outcomes.rules = learned.notes, rules
    return outcomes


def _with_formula(rows: Rows, views: Views, learned: Outcomes) -> Outcomes:
    """Outcomes with a formula in place of a reward that would be learned as a number."""
    names = {name for name, _ in views.state.variables + views.action.variables}
    if not learned.learns_reward or learned.has_few_rewards or REMAINDER in names:
        return learned
    columns = schema_from(views, learned, "rows").columns
    of_role = {role: [column for column in columns if column["role"] == role] for role in ("state", "action", "next")}
    states, acted, after = of_role.values()
    values = [_on_circles(rows.states, states), rows.actions, _on_circles(rows.after, after)]
    formula = formula_of(
        np.concatenate(values, axis=1), states + acted + after, rows.rewards, rows.episodes, learned.end, rows.terminated
    )
    if formula is None:
        return learned
    terms = dict(formula.terms) if formula.is_exact else formula.terms | {REMAINDER: REMAINDER}
    has_over = "over" in learned.variables
    outcomes = Outcomes(views, terms, None if has_over else learned.end, rows.rewards, has_over)
    outcomes.notes, outcomes.rules = learned.notes, [*learned.rules, _told(formula)]
    return outcomes


def _told(formula: Formula) -> str:
    terms = "; ".join(f"{name}: {expression}" for name, expression in formula.terms.items())
    if formula.is_exact:
        return f"the reward is a sum of terms in every row: {terms}"
    return (
        f"the reward is nearly a sum of terms, and the rest of it, {100 * formula.left:.1f} % of its standard deviation, "
        f"is learned as the outcome `{REMAINDER}`: {terms}"
    )


def _on_circles(values: np.ndarray, columns: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """States in the numbers that expressions see: circular ones from their lowest number to just below a turn more."""
    values = np.array(values, dtype=float)
    for place, column in enumerate(columns):
        if column["kind"] == "circular":
            low, high = column["low"], column["high"]
            own = values[:, place]
            outside = (own < low) | (own >= high)
            own[outside] = low + np.mod(own[outside] - low, high - low)
    return values


def _contradiction(log: _becausal.Log, rows: Rows) -> Optional[str]:
    """Where recorded rewards or ends are not those of the schema; `None` where they are."""
    rewards, ends = log._contradictions()
    # A reward for every step is one for those that are not the last: what is at stake is whether there are more.
    if rewards > int(rows.terminated.sum()):
        return f"the reward is another one in {rewards:,} of {len(rows.rewards):,} rows"
    return f"the end is another one in {ends:,} of {len(rows.rewards):,} rows" if ends else None


def _assembled(
    rows: Rows, outcomes: Outcomes, schema: _becausal.Schema, origin: Optional[dict[str, Any]]
) -> _becausal.Log:
    led = [outcomes.of(float(r), bool(t), a) for r, t, a in zip(rows.rewards, rows.terminated, rows.actions)]
    width = sum(column["role"] == "outcome" for column in schema.columns)
    outcome = np.array(led, dtype=float).reshape(len(rows.rewards), width)
    matrix = np.concatenate([rows.states, rows.actions, outcome, rows.after], axis=1)
    outcomes.settle(schema, matrix, rows.rewards)
    columns = _slot_columns(schema, matrix)
    columns.append(("episode", "i", rows.episodes.astype(np.int64).tobytes()))
    columns.append(("terminated", "b", rows.terminated.tobytes()))
    columns.append(("truncated", "b", rows.truncated.tobytes()))
    columns.append(("reward", "f", rows.rewards.astype(np.float64).tobytes()))
    return _becausal.assemble(columns, schema, origin=origin)


def _slot_columns(schema: _becausal.Schema, matrix: np.ndarray) -> Columns:
    """The columns of a matrix with a column per slot; categories are indices of their labels."""
    columns: Columns = []
    for place, column in enumerate(schema.columns):
        values = matrix[:, place]
        labels = column["labels"]
        # Where all labels are whole numbers, a number means the label.
        if labels and all(re.fullmatch(r"-?(0|[1-9]\d*)", label) for label in labels):
            values = np.array([float(label) for label in labels])[values.astype(np.int64)]
        columns.append((column["name"], "f", np.ascontiguousarray(values, dtype=np.float64).tobytes()))
    return columns
