"""From a Gymnasium space to named variables, and back.

A view flattens an observation or action into the numbers of its variables (a category is the index of its
label), and builds it again from them.
"""

from __future__ import annotations

import re
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from ._errors import ArgumentError, SpaceError

#: A Box with more numbers than this and more than one axis is taken for a picture.
_MOST_NUMBERS = 64

#: Words that expressions have a meaning for, and columns that every log may have.
_RESERVED = {
    "abs", "atan2", "ceil", "clamp", "cos", "e", "episode", "exp", "false", "floor", "hypot", "if", "log",
    "max", "min", "pi", "pow", "reward", "round", "sign", "sin", "sqrt", "tan", "tanh", "terminated", "true",
    "truncated",
}  # fmt: skip

Variable = tuple[str, dict[str, Any]]


def safe_name(name: str) -> str:
    """A name that a variable may have."""
    name = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not name or name[0].isdigit():
        name = "v_" + name
    return name + "_" if name in _RESERVED else name


class View:
    """A space as named variables."""

    variables: list[Variable]

    @property
    def width(self) -> int:
        return len(self.variables)

    def flats(self, values: Any, count: int) -> np.ndarray:
        """`[count, width]` numbers of a batch."""
        raise NotImplementedError

    def builds(self, numbers: np.ndarray) -> Any:
        """A batch from `[count, width]` numbers."""
        raise NotImplementedError

    def flat(self, value: Any) -> np.ndarray:
        """The numbers of one observation or action."""
        numbers: np.ndarray = self.flats(self.stack([value]), 1)[0]
        return numbers

    def build(self, numbers: np.ndarray) -> Any:
        """One observation or action from its numbers."""
        return self.pick(self.builds(np.asarray(numbers, dtype=float).reshape(1, -1)), 0)

    def stack(self, values: Sequence[Any]) -> Any:
        """A batch of several."""
        return np.stack([np.asarray(value) for value in values])

    def pick(self, batch: Any, index: int) -> Any:
        """One of a batch."""
        return batch[index]


class BoxView(View):
    """Numbers."""

    def __init__(self, space: Any, names: Sequence[str], bounded: bool) -> None:
        self.shape, self.dtype = space.shape, space.dtype
        whole = np.issubdtype(space.dtype, np.integer)
        low, high = space.low.reshape(-1), space.high.reshape(-1)
        self.low, self.high = low.astype(float), high.astype(float)
        self.bounded = bounded
        self.variables = []
        for index, name in enumerate(names):
            spec: dict[str, Any] = {"kind": "integer" if whole else "continuous"}
            if bounded and np.isfinite(low[index]) and np.isfinite(high[index]):
                spec |= {"low": float(low[index]), "high": float(high[index])}
            self.variables.append((name, spec))

    def flats(self, values: Any, count: int) -> np.ndarray:
        numbers = np.asarray(values, dtype=np.float64).reshape(count, -1)
        # Actions are what the environment makes of them: within its bounds.
        return np.clip(numbers, self.low, self.high) if self.bounded else numbers

    def builds(self, numbers: np.ndarray) -> Any:
        if np.issubdtype(self.dtype, np.integer):
            numbers = np.rint(numbers)
        return numbers.reshape((len(numbers), *self.shape)).astype(self.dtype)


class DiscreteView(View):
    """One category, or the parts that it is made of."""

    def __init__(self, space: Any, factors: Sequence[tuple[str, Sequence[str]]]) -> None:
        self.start, self.count = int(space.start), int(space.n)
        self.dtype = space.dtype
        self.sizes = [len(labels) for _, labels in factors]
        self.variables = [
            (name, {"kind": "categorical", "labels": list(labels)}) for name, labels in factors
        ]

    def flats(self, values: Any, count: int) -> np.ndarray:
        numbers = np.asarray(values).reshape(count)
        first, last = self.start, self.start + self.count - 1
        if not np.issubdtype(numbers.dtype, np.number) and numbers.dtype != bool:
            raise ValueError(f"{numbers.tolist()[0]!r} is not a number from {first} to {last}")
        wrong = ~((numbers >= first) & (numbers <= last) & (numbers == np.floor(numbers)))
        if np.any(wrong):
            raise ValueError(f"{numbers[wrong][0]} is not a whole number from {first} to {last}")
        parts = np.unravel_index(numbers.astype(np.int64) - first, self.sizes)
        return np.stack(parts, axis=1).astype(np.float64)

    def builds(self, numbers: np.ndarray) -> Any:
        parts = tuple(np.rint(numbers[:, place]).astype(np.int64) for place in range(len(self.sizes)))
        return (np.ravel_multi_index(parts, self.sizes, mode="clip") + self.start).astype(self.dtype)


class MultiView(View):
    """Several categories or flags."""

    def __init__(self, space: Any, variables: list[Variable], starts: Any) -> None:
        self.shape, self.dtype = space.shape, space.dtype
        self.starts = np.asarray(starts, dtype=np.float64).reshape(-1)
        self.variables = variables

    def flats(self, values: Any, count: int) -> np.ndarray:
        numbers: np.ndarray = np.asarray(values, dtype=np.float64).reshape(count, -1) - self.starts
        if numbers.shape[1] != self.width:
            raise ValueError(f"{numbers.shape[1]} numbers, expected {self.width}")
        sizes = np.array([len(spec.get("labels", "01")) for _, spec in self.variables])
        wrong = np.argwhere(~((numbers >= 0) & (numbers < sizes) & (numbers == np.floor(numbers))))
        if len(wrong):
            row, place = wrong[0]
            first = int(self.starts[place])
            raise ValueError(
                f"{numbers[row, place] + first:g} for {self.variables[place][0]} is not a whole number from {first} to "
                f"{first + sizes[place] - 1}"
            )
        return numbers

    def builds(self, numbers: np.ndarray) -> Any:
        return (np.rint(numbers) + self.starts).reshape((len(numbers), *self.shape)).astype(self.dtype)


class PartsView(View):
    """A Dict or Tuple of other spaces."""

    def __init__(self, parts: Mapping[Any, View], is_tuple: bool) -> None:
        self.parts, self.is_tuple = dict(parts), is_tuple
        self.variables = [variable for part in self.parts.values() for variable in part.variables]

    def flats(self, values: Any, count: int) -> np.ndarray:
        each = [part.flats(values[key], count) for key, part in self.parts.items()]
        return np.concatenate(each, axis=1)

    def builds(self, numbers: np.ndarray) -> Any:
        built, at = {}, 0
        for key, part in self.parts.items():
            built[key] = part.builds(numbers[:, at : at + part.width])
            at += part.width
        return tuple(built.values()) if self.is_tuple else built

    def stack(self, values: Sequence[Any]) -> Any:
        for value in values:
            self._check(value)
        stacked = {key: part.stack([value[key] for value in values]) for key, part in self.parts.items()}
        return tuple(stacked.values()) if self.is_tuple else stacked

    def _check(self, value: Any) -> None:
        if self.is_tuple:
            if isinstance(value, (str, Mapping)) or not hasattr(value, "__len__") or len(value) != len(self.parts):
                raise ValueError(f"{value!r} is not a tuple of {len(self.parts)}")
        elif not isinstance(value, Mapping):
            raise TypeError(f"{value!r} is not a dict with {', '.join(map(str, self.parts))}")
        elif any(key not in value for key in self.parts):
            raise KeyError(f"{value!r} lacks {', '.join(str(key) for key in self.parts if key not in value)}")

    def pick(self, batch: Any, index: int) -> Any:
        keys = self.parts.items()
        picked = {key: part.pick(batch[key], index) for key, part in keys}
        return tuple(picked.values()) if self.is_tuple else picked


def mark_angles(view: View, angles: Sequence[str]) -> None:
    """Makes circular variables of those numbers of a view that are angles in radians."""
    known = dict(view.variables)
    for name in angles:
        if known.get(name, {}).get("kind") != "continuous":
            raise ArgumentError(
                f"`angles` has {name!r}, expected numbers of the observation: "
                + ", ".join(one for one, spec in view.variables if spec["kind"] == "continuous")
            )
    for place, (name, _) in enumerate(view.variables):
        if name in angles:
            from_zero = {"low": 0.0} if _is_from_zero(view, place) else {}
            view.variables[place] = (name, {"kind": "circular"} | from_zero)


def _is_from_zero(view: View, place: int) -> bool:
    """Whether an angle is counted from 0 to a full turn rather than from minus a half to a half."""
    if isinstance(view, BoxView):
        return bool(view.low[place] >= -1e-6)
    if isinstance(view, PartsView):
        for part in view.parts.values():
            if place < part.width:
                return _is_from_zero(part, place)
            place -= part.width
    return False


def view_of(
    space: Any,
    name: str,
    *,
    names: Optional[Sequence[str]] = None,
    labels: Optional[Sequence[str]] = None,
    factors: Optional[Sequence[tuple[str, Sequence[str]]]] = None,
    bounded: bool = False,
    role: str = "observation",
) -> View:
    """The view of a space. `name` is that of a single variable, and the beginning of those of several."""
    from gymnasium import spaces

    def named(count: int) -> list[str]:
        if names is None:
            return [name] if count == 1 else [f"{name}_{index}" for index in range(count)]
        if len(names) != count:
            raise ArgumentError(f"{len(names)} names ({', '.join(names)}), expected {count}: the {role} is {space}")
        twice = [one for at, one in enumerate(names) if one in names[:at]]
        if twice:
            raise ArgumentError(f"{twice[0]!r} is the name of several variables of the {role} ({', '.join(names)})")
        return [safe_name(one) for one in names]

    if isinstance(space, spaces.Discrete):
        count = int(space.n)
        if factors is not None:
            if int(np.prod([len(part) for _, part in factors])) != count:
                factors = None
            else:
                return DiscreteView(space, factors)
        if labels is None:
            labels = [str(int(space.start) + index) for index in range(count)]
        if len(labels) != count:
            raise ArgumentError(f"{len(labels)} labels ({', '.join(labels)}), expected {count}: the {role} is {space}")
        return DiscreteView(space, [(named(1)[0], list(labels))])
    if isinstance(space, spaces.MultiDiscrete):
        sizes = np.asarray(space.nvec).reshape(-1)
        starts = np.asarray(getattr(space, "start", np.zeros_like(sizes))).reshape(-1)
        variables: list[Variable] = [
            (one, {"kind": "categorical", "labels": [str(int(start) + index) for index in range(int(size))]})
            for one, size, start in zip(named(len(sizes)), sizes, starts)
        ]
        return MultiView(space, variables, starts)
    if isinstance(space, spaces.MultiBinary):
        count = int(np.prod(space.shape))
        return MultiView(space, [(one, {"kind": "boolean"}) for one in named(count)], np.zeros(count))
    if isinstance(space, spaces.Box):
        count = int(np.prod(space.shape))
        if len(space.shape) > 1 and count > _MOST_NUMBERS:
            raise SpaceError(
                f"the {role} {space} looks like a picture: becausal explains named variables, not pixels. "
                "Wrap the environment so that it observes what the picture shows (positions, velocities, "
                "flags): gymnasium.ObservationWrapper, or an id without pictures"
            )
        return BoxView(space, named(count), bounded)
    if isinstance(space, (spaces.Dict, spaces.Tuple)):
        is_tuple = isinstance(space, spaces.Tuple)
        given_spaces: Any = space.spaces
        inner: dict[Any, Any] = dict(enumerate(given_spaces)) if is_tuple else dict(given_spaces)
        parts: dict[Any, View] = {}
        given = list(names) if names is not None else None
        for key, part in inner.items():
            beginning = f"{name}_{key}" if is_tuple else safe_name(str(key))
            own = None
            if given is not None:
                width = view_of(part, beginning, role=role).width
                own, given = given[:width], given[width:]
            parts[key] = view_of(part, beginning, names=own, bounded=bounded, role=role)
        if given:
            raise ArgumentError(f"too many names, the last ones being {', '.join(given)}: the {role} is {space}")
        return PartsView(parts, is_tuple)
    raise SpaceError(
        f"the {role} is {space}: becausal covers Box, Discrete, MultiDiscrete, MultiBinary, Tuple and Dict. "
        "Wrap the environment so that it uses one of them (gymnasium.ObservationWrapper, ActionWrapper)"
    )
