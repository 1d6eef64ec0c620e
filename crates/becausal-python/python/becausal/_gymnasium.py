"""Gymnasium environments: their schemas, and the adapter through which they are played."""

from __future__ import annotations

import json
import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _becausal
from ._errors import ArgumentError, ReplayError
from ._known import Known, known
from ._makers import Maker, is_wrapped
from ._spaces import mark_angles, safe_name, view_of

#: The outcome, and the reward term, of what the other terms do not give.
REMAINDER = "remainder"

#: A reward with at most this many values is one of labels; otherwise it is a number.
MOST_LABELS = 8

Reward = Union[None, str, Mapping[str, str]]


class Views:
    """The variables of an environment: its observations and actions."""

    def __init__(
        self,
        maker: Maker,
        names: Optional[Sequence[str]] = None,
        actions: Optional[Sequence[str]] = None,
        angles: Optional[Sequence[str]] = None,
    ) -> None:
        """`angles` are those of the observation's numbers that are angles in radians."""
        env = maker()
        try:
            self.observation_space, self.action_space = env.observation_space, env.action_space
            is_changed = is_wrapped(env)
        finally:
            env.close()
        self.id = maker.id
        self.known = Known() if is_changed else known(maker.id.rpartition(":")[2])
        from gymnasium import spaces

        built_in = None
        if self.known.built_in is not None and names is None and actions is None and not angles:
            built_in = _becausal.Schema.read(self.known.built_in)
            if not _fits(built_in, self.observation_space, self.action_space):
                built_in, self.known = None, Known()
        #: The schema of the built-in environment with the same variables, if there is one.
        self.built_in = built_in
        is_discrete = isinstance(self.action_space, spaces.Discrete)
        if built_in is not None:
            states = [column["name"] for column in built_in.columns if column["role"] == "state"]
            self.state = view_of(self.observation_space, "observation", names=states)
            labels = built_in.columns[len(states)]["labels"] if is_discrete else None
            self.action = view_of(
                self.action_space,
                built_in.actions[0] if is_discrete else "action",
                names=None if is_discrete else built_in.actions,
                labels=labels,
                bounded=True,
                role="action",
            )
            return
        shape = getattr(self.observation_space, "shape", None)
        usual = self.known.names
        if usual is not None and shape is not None and int(np.prod(shape)) != len(usual):
            usual = None
        self.state = view_of(
            self.observation_space,
            "observation",
            names=names if names is not None else usual,
            factors=None if names is not None else self.known.factors,
        )
        if angles:
            mark_angles(self.state, [safe_name(name) for name in angles])
        usual = actions
        if is_discrete:
            labels = actions if actions is not None else self.known.labels
            if labels is not None and actions is None and len(labels) != int(self.action_space.n):
                labels = None
            usual = None
        else:
            labels = None
            if usual is None and self.known.actions is not None:
                shape = getattr(self.action_space, "shape", None) or ()
                usual = self.known.actions if int(np.prod(shape)) == len(self.known.actions) else None
            taken = {name for name, _ in self.state.variables}
            if usual is not None:
                usual = [f"{name}_torque" if name in taken else name for name in usual]
        name = safe_name(self.known.action or "action")
        self.action = view_of(
            self.action_space, name, names=usual, labels=labels, bounded=True, role="action"
        )


def _fits(schema: _becausal.Schema, observation: Any, action: Any) -> bool:
    """Whether these are the spaces of a built-in environment."""
    from gymnasium import spaces

    actions = [column for column in schema.columns if column["role"] == "action"]
    states = [column for column in schema.columns if column["role"] == "state"]
    if int(np.prod(observation.shape or (0,))) != len(states):
        return False
    if isinstance(action, spaces.Discrete):
        return len(actions) == 1 and len(actions[0]["labels"]) == int(action.n)
    return isinstance(action, spaces.Box) and not actions[0]["labels"] and int(np.prod(action.shape)) == len(actions)


class Outcomes:
    """What a step leads to besides the next state: what it paid, and whether it was the end."""

    def __init__(
        self,
        views: Views,
        reward: Reward = None,
        end: Optional[str] = None,
        rewards: Optional[np.ndarray] = None,
        ends: bool = True,
    ) -> None:
        """`rewards` are those that were recorded, and `ends` is whether any episode ended by the rules."""
        self.variables: dict[str, dict[str, Any]] = {}
        self.terms: dict[str, str] = {}
        self._values: Optional[np.ndarray] = None
        self._function: Optional[Callable[[float, bool, Any], list[float]]] = None
        self.end = end
        #: What the user should know about them, in sentences.
        self.notes: list[str] = []
        #: The rules that were found in the rows, in sentences.
        self.rules: list[str] = []
        #: Whether reward or end are those that becausal knows.
        self.is_known = False
        #: The schema of the built-in environment, where its outcomes are known.
        self.schema_of_built_in: Optional[_becausal.Schema] = None
        self._has_paid = self._has_over = self._has_remainder = False
        learn = reward == "learn"
        if learn:
            reward = None
        if reward is None and end is None and not learn:
            if views.built_in is not None:
                self._function = views.known.outcomes
                self.schema_of_built_in = views.built_in
                self.is_known = True
                return
            names = {name for name, _ in views.state.variables}
            usual = views.known.names
            is_told = views.known.reward is not None or views.known.end is not None
            if is_told and usual is not None and names >= set(usual):
                reward, self.end = views.known.reward, views.known.end
                self.is_known = True
        never_ends = reward is not None and reward is views.known.reward
        if self.end is None and ends and not never_ends:
            self._has_over = True
            self.variables["over"] = {"kind": "boolean", "label": "episode over"}
            self.end = "over"
        if isinstance(reward, str):
            self.terms = {"reward": reward}
        elif reward is not None:
            self.terms = dict(reward)
            taken = {name for name, _ in views.state.variables + views.action.variables}
            if self.terms.get(REMAINDER) == REMAINDER and REMAINDER not in taken:
                self._has_remainder = True
                self.variables = {REMAINDER: {"kind": "continuous", "label": "remainder of the reward"}} | self.variables
        else:
            self._learn(rewards)

    def _learn(self, rewards: Optional[np.ndarray]) -> None:
        values = np.unique(rewards) if rewards is not None else None
        if values is not None and len(values) == 1 and self.end is not None:
            # Every step pays the same: what is at stake is whether there are more of them.
            self.terms = {"survival": f"if({self.end}, 0, {_number(values[0])})"}
            if values[0] == 0:
                assert rewards is not None
                self.notes.append(
                    f"no reward was paid in {len(rewards):,} rows, so there is nothing to explain rewards by: record "
                    "longer, or an agent that reaches one, or give `reward`"
                )
            return
        self._has_paid = True
        if values is not None and len(values) <= MOST_LABELS:
            self._values = values
            labels = [f"pays {value:g}" for value in values]
            if len(set(labels)) < len(labels):
                labels = [f"pays {float(value)!r}" for value in values]
            self.variables = {
                "paid": {"kind": "categorical", "labels": labels, "label": "reward paid"}
            } | self.variables
            expression = _number(values[-1])
            for value, label in list(zip(values, labels))[-2::-1]:
                expression = f'if(paid == "{label}", {_number(value)}, {expression})'
            self.terms = {"paid": expression}
        else:
            self.variables = {"paid": {"kind": "continuous", "label": "reward paid"}} | self.variables
            self.terms = {"paid": "paid"}

    @property
    def learns_reward(self) -> bool:
        """Whether the reward is a variable."""
        return self._has_paid

    @property
    def has_few_rewards(self) -> bool:
        """Whether the reward is learned as one of a few values."""
        return self._values is not None

    def settle(self, schema: _becausal.Schema, rows: np.ndarray, rewards: np.ndarray) -> None:
        """Writes into `[rows, slots]` what the other terms leave of the rewards, where that is an outcome."""
        if self._has_remainder:
            place = [column["name"] for column in schema.columns].index(REMAINDER)
            rows[:, place] = 0.0
            rows[:, place] = rewards - np.frombuffer(schema._totals(np.ascontiguousarray(rows).tobytes()))

    def of(self, reward: float, terminated: bool, action: Any) -> list[float]:
        """The outcomes of a step, in the order of the schema. The rest of the reward is left to `settle`."""
        if self._function is not None:
            return self._function(reward, terminated, action)
        outcomes: list[float] = []
        if self._has_paid:
            if self._values is None:
                outcomes.append(float(reward))
            else:
                # A value that was never recorded counts as the nearest one that was.
                outcomes.append(float(np.argmin(np.abs(self._values - reward))))
        if self._has_remainder:
            outcomes.append(0.0)
        if self._has_over:
            outcomes.append(float(terminated))
        return outcomes


def _number(value: float) -> str:
    return repr(float(value)) if value >= 0 else f"(0 - {float(-value)!r})"


def views_of(maker: Maker, schema: _becausal.Schema) -> Views:
    """The variables of an environment under the names of a schema."""
    views = Views(maker)
    if views.built_in is not None and views.built_in.columns == schema.columns:
        return views
    states = [column["name"] for column in schema.columns if column["role"] == "state"]
    actions = [column for column in schema.columns if column["role"] == "action"]
    usual = [name for name, _ in views.state.variables]
    angles = [column["name"] for column in schema.columns if column["role"] == "state" and column["kind"] == "circular"]
    names = None if states == usual else states
    if len(actions) == 1 and actions[0]["labels"]:
        given, known = actions[0]["labels"], views.action.variables[0][1].get("labels")
    else:
        given, known = [one["name"] for one in actions], [name for name, _ in views.action.variables]
    if names is None and given == known and not angles:
        return views
    return Views(maker, states if views.built_in is not None else names, None if given == known else given, angles)


def check_one_schema(schema: Any, *parts: Any) -> None:
    """Refuses a schema together with parts of another one."""
    if schema is not None and any(part is not None for part in parts):
        raise ArgumentError(
            "`schema` already says what `names`, `actions`, `reward`, `end` and `angles` are: give one or the other"
        )


def outcomes_of(schema: _becausal.Schema, views: Views) -> Outcomes:
    """The outcomes of a schema that `Schema.of` or `record` made, for the environment of these views."""
    if views.built_in is not None and views.built_in.columns == schema.columns:
        outcomes = Outcomes(views)
        outcomes.is_known = False
        return outcomes
    for column in schema.columns:
        expected = dict(views.state.variables + views.action.variables).get(column["name"], {})
        if column["role"] not in ("state", "action"):
            continue
        if column["kind"] != expected.get("kind") or list(column["labels"]) != list(expected.get("labels", [])):
            raise ArgumentError(
                f"`schema` has the {column['role']} variable `{column['name']}` ({column['kind']}, labels "
                f"{column['labels']}), while the environment has {_shown(views)}"
            )
    told = {"paid", "over"} | ({REMAINDER} if schema.rewards.get(REMAINDER) == REMAINDER else set())
    foreign = [name for name in schema.outcomes if name not in told]
    if foreign:
        raise ArgumentError(
            f"`schema` has the outcome {foreign[0]}, which the environment does not tell: it tells the reward "
            f"(`paid`, or `{REMAINDER}` for what the other terms do not give) and the end (`over`)"
        )
    rewards: Optional[np.ndarray] = None
    for column in schema.columns:
        if column["name"] == "paid" and column["kind"] == "categorical":
            rewards = np.array([float(re.sub("^pays ", "", label)) for label in column["labels"]])
    has_over = "over" in schema.outcomes
    end = None if has_over else schema.end
    if "paid" in schema.outcomes:
        # More values than there are labels for are a number.
        rewards = rewards if rewards is not None else np.arange(MOST_LABELS + 1.0)
        return Outcomes(views, "learn", end, rewards, has_over)
    return Outcomes(views, dict(schema.rewards), end, None, has_over)


def _shown(views: Views) -> str:
    return ", ".join(f"`{name}` ({spec['kind']})" for name, spec in views.state.variables + views.action.variables)


def schema_from(views: Views, outcomes: Outcomes, name: str) -> _becausal.Schema:
    """The schema of an environment."""
    if outcomes.schema_of_built_in is not None:
        return outcomes.schema_of_built_in
    lines = [f"name = {json.dumps(name)}", "", "[state]"]
    lines += [_line(one, spec) for one, spec in views.state.variables]
    lines += ["", "[action]"] + [_line(one, spec) for one, spec in views.action.variables]
    if outcomes.variables:
        lines += ["", "[outcome]"] + [_line(one, spec) for one, spec in outcomes.variables.items()]
    lines += ["", "[reward]"] + [f"{json.dumps(k)} = {json.dumps(v)}" for k, v in outcomes.terms.items()]
    if outcomes.end is not None:
        lines += ["", "[termination]", f"when = {json.dumps(outcomes.end)}"]
    return _becausal.Schema("\n".join(lines) + "\n")


def _line(name: str, spec: Mapping[str, Any]) -> str:
    return f"{name} = {{ " + ", ".join(f"{key} = {_toml(value)}" for key, value in spec.items()) + " }"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return repr(value)


def schema_of(
    env: Any,
    names: Optional[Sequence[str]] = None,
    actions: Optional[Sequence[str]] = None,
    reward: Reward = None,
    end: Optional[str] = None,
    angles: Optional[Sequence[str]] = None,
) -> _becausal.Schema:
    """`Schema.of`."""
    maker = Maker.of(env)
    views = Views(maker, names, actions, angles)
    return schema_from(views, Outcomes(views, reward, end), maker.id)


class Adapter:
    """An environment as the library plays it: every copy is a fresh one that takes the actions again."""

    def __init__(self, maker: Maker, views: Views, outcomes: Outcomes, schema: _becausal.Schema) -> None:
        self.maker, self.views, self.outcomes, self.schema = maker, views, outcomes, schema
        #: Why nothing can be replayed; `None` where it can.
        self.problem: Optional[str] = None

    def at(self, seed: int, actions: bytes, steps: int) -> tuple["Session", bytes]:
        """A fresh environment after these actions from this seed, and its state."""
        if self.problem is not None:
            raise ReplayError(self.problem)
        session = Session(self, seed)
        if steps:
            for action in np.frombuffer(actions).reshape(steps, -1):
                session.take(action)
        return session, session.state.tobytes()


class Session:
    """One fresh copy of an environment."""

    def __init__(self, adapter: Adapter, seed: int) -> None:
        self.adapter = adapter
        self.env = adapter.maker()
        observation, _ = self.env.reset(seed=seed)
        self.state: np.ndarray = adapter.views.state.flat(observation)

    def take(self, action: np.ndarray) -> tuple[float, bool, bool]:
        """Takes an action, given as the numbers of its variables."""
        given = self.adapter.views.action.build(action)
        observation, reward, terminated, truncated, _ = self.env.step(given)
        self.state = self.adapter.views.state.flat(observation)
        return float(reward), bool(terminated), bool(truncated)

    def step(self, action: bytes) -> tuple[bytes, bytes, float, bool, bool]:
        """State, outcomes, reward, terminated and truncated."""
        numbers, before = np.frombuffer(action), self.state
        reward, terminated, truncated = self.take(numbers)
        outcomes = np.array(self.adapter.outcomes.of(reward, terminated, numbers), dtype=np.float64)
        row = np.concatenate([before, numbers, outcomes, self.state])
        self.adapter.outcomes.settle(self.adapter.schema, row[None, :], np.array([reward]))
        first = len(before) + len(numbers)
        outcomes = row[first : first + len(outcomes)]
        return self.state.tobytes(), outcomes.tobytes(), reward, terminated, truncated

    def __del__(self) -> None:
        env = getattr(self, "env", None)
        if env is not None:
            try:
                env.close()
            except Exception:
                pass
