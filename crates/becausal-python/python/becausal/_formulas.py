"""Formulas that recorded rewards follow, exactly or nearly.

A learned outcome is predicted from state and action, while most rewards also depend on where a step leads: a speed
afterwards, a distance to a goal. Where a short sum of plain functions of state, action and next state gives the
reward, or most of it, that sum is used, and only what is left is learned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

#: The root mean square of what a formula leaves, at most, in standard deviations of the reward. One that leaves more
#: does not say much about it.
_MOST_LEFT = 0.3

#: A summand has to leave at most this share of the error without it, in episodes that it was not fitted to.
_MIN_GAIN = 0.9

#: Summands at most: a longer formula is not one that anybody would read.
_MOST_SUMMANDS = 10

#: Plainer summands come first: how much more of the variance one has to explain that is a square or an amount, and one
#: of two variables.
_PENALTIES = (1.0, 1.3, 1.7)

#: Numbers of a state up to which pairs of them are tried; with more there are thousands of pairs.
_MOST_PAIRED = 24

#: Distances are first tried from the numbers that divide the rows into this many parts, then from the best one nearby.
_PARTS = 10

#: Halvings, nearly, of the stretch in which the best number lies: enough for single precision.
_HALVINGS = 36

#: Rows that formulas are looked for in, at most: enough to tell summands apart.
_MOST_ROWS = 10_000

#: Rows with a label, or an end, at least: of fewer a summand describes accidents.
_MIN_ROWS = 20

#: The share by which rounding the weights may raise what is left.
_ROUNDING = 1e-3

#: An error below this, in standard deviations of the reward, is that of numbers in single precision.
_ROUNDED = 1e-6

#: A formula is exact where no row differs by more than this share of 1 and of the reward, as `Log.check` has it, nor by
#: more than a thousandth of a standard deviation of the reward.
_SAME, _NEGLIGIBLE = 1e-4, 1e-3


@dataclass
class Formula:
    """A reward as a sum of terms."""

    #: Names and expressions.
    terms: dict[str, str]
    #: The root mean square of what it leaves, in standard deviations of the reward.
    left: float
    #: Whether it gives the reward in every row.
    is_exact: bool


@dataclass
class _Target:
    name: str
    at: float
    values: np.ndarray
    between: tuple[float, float]


@dataclass
class _Summand:
    expression: str
    #: The variables that it reads, without primes.
    reads: tuple[str, ...]
    #: How plain it is: a place in `_PENALTIES`.
    tier: int
    values: np.ndarray
    #: Whether it is the end of the episode.
    is_end: bool = False
    #: The distance from a number: the variable, where it is, its values, and between which numbers the best one lies.
    target: Optional[_Target] = None


def formula_of(
    values: np.ndarray,
    columns: Sequence[Mapping[str, Any]],
    rewards: np.ndarray,
    episodes: np.ndarray,
    end: Optional[str] = None,
    ended: Optional[np.ndarray] = None,
) -> Optional[Formula]:
    """A formula for `rewards`, `None` where there is none that is short and leaves little.

    `values` has a column for each of `columns`, which are those of a schema. `end` is the expression of the end of an
    episode, and `ended` the rows with one."""
    spread = float(rewards.std())
    if spread == 0.0 or not np.isfinite(spread):
        return None
    taken = np.linspace(0, len(rewards) - 1, min(len(rewards), _MOST_ROWS)).astype(np.int64)
    # Ends are rare, and all of them count.
    if ended is not None:
        ends = np.flatnonzero(ended)
        taken = np.union1d(taken, ends[np.linspace(0, len(ends) - 1, min(len(ends), _MOST_ROWS)).astype(np.int64)])
    half = episodes[taken] % 2 == 0
    if half.sum() < _MIN_ROWS or (~half).sum() < _MIN_ROWS:
        return None
    tried = list(_summands(values[taken], columns, end, None if ended is None else ended[taken]))
    if not tried:
        return None
    paid = rewards[taken]
    chosen = _chosen(tried, paid, half)
    # The same summands have to do as well where the halves change places.
    if not chosen or _error(chosen, paid, ~half, half) > _MOST_LEFT * spread:
        return None
    places = {column["name"]: place for place, column in enumerate(columns)}
    plain = {summand.expression for summand in chosen if summand.target is None}
    summands = [one for one in _summands(values, columns, end, ended) if one.target is None and one.expression in plain]
    targets = [summand.target for summand in chosen if summand.target is not None]
    summands += [_distance(replace(target, values=values[:, places[target.name]])) for target in targets]
    expected, weights = _rounded(np.stack([summand.values for summand in summands], axis=1), rewards)
    left = rewards - expected
    share = float(np.sqrt(np.mean(left**2))) / spread
    if share > _MOST_LEFT:
        return None
    same = np.minimum(_SAME * (1.0 + np.abs(rewards)), _NEGLIGIBLE * spread)
    return Formula(_terms(summands, weights, end), share, bool(np.all(np.abs(left) <= same)))


def _summands(
    values: np.ndarray, columns: Sequence[Mapping[str, Any]], end: Optional[str], ended: Optional[np.ndarray]
) -> Iterator[_Summand]:
    """What a formula may be made of."""
    if end is not None and ended is not None and _MIN_ROWS <= ended.sum() <= len(ended) - _MIN_ROWS:
        yield _Summand(end, (), 0, ended.astype(np.float64), is_end=True)
    numbers: list[tuple[str, np.ndarray]] = []
    acted: list[tuple[str, np.ndarray]] = []
    for place, column in enumerate(columns):
        name, own = column["name"], values[:, place]
        reads: tuple[str, ...] = (name.rstrip("'"),)
        if column["labels"] or column["kind"] == "boolean":
            labels = column["labels"] or [None, None]
            for label in range(len(labels) if column["labels"] else 1):
                is_it = own == (label if column["labels"] else 1.0)
                if _MIN_ROWS <= is_it.sum() <= len(is_it) - _MIN_ROWS:
                    asked = f'{name} == "{labels[label]}"' if column["labels"] else name
                    yield _Summand(f"if({asked}, 1, 0)", reads, 0, is_it.astype(np.float64))
            continue
        if np.ptp(own) == 0.0:
            continue
        yield _Summand(name, reads, 0, own)
        yield _Summand(f"{name}^2", reads, 1, own**2)
        yield _Summand(f"abs({name})", reads, 1, np.abs(own))
        if column["kind"] == "circular":
            yield _Summand(f"cos({name})", reads, 1, np.cos(own))
            yield _Summand(f"sin({name})", reads, 1, np.sin(own))
        (acted if column["role"] == "action" else numbers).append((name, own))
    if len(acted) > 1:
        squares = " + ".join(f"{name}^2" for name, _ in acted)
        yield _Summand(f"({squares})", ("actions",), 1, np.sum([own**2 for _, own in acted], axis=0))
    after = [(name, own) for name, own in numbers if name.endswith("'")]
    before = [(name, own) for name, own in numbers if not name.endswith("'")]
    for group in (after, before):
        for name, own in group[:_MOST_PAIRED]:
            ticks = np.quantile(own, np.linspace(0, 1, _PARTS + 1))
            for place in range(1, _PARTS):
                between = (float(ticks[place - 1]), float(ticks[place + 1]))
                yield _distance(_Target(name, float(ticks[place]), own, between))
        for (one, left), (other, right) in combinations(group[:_MOST_PAIRED], 2):
            reads = (one.rstrip("'"), other.rstrip("'"))
            yield _Summand(f"{one} * {other}", reads, 2, left * right)
            yield _Summand(f"hypot({one}, {other})", reads, 2, np.hypot(left, right))


def _distance(target: _Target) -> _Summand:
    sign = "-" if target.at >= 0 else "+"
    expression = f"abs({target.name} {sign} {_written(abs(target.at))})" if target.at else f"abs({target.name})"
    return _Summand(expression, (target.name.rstrip("'"),), 1, np.abs(target.values - target.at), target=target)


def _chosen(tried: list[_Summand], paid: np.ndarray, half: np.ndarray) -> list[_Summand]:
    """The summands, one after the other: each time the one that leaves least, as long as it helps in the other half."""
    penalties = np.array([_PENALTIES[summand.tier] for summand in tried])
    # What the summands so far do not explain of the reward, and of the other summands.
    open_inputs = np.stack([_standard(summand.values[half]) for summand in tried], axis=1)
    open_paid = paid[half] - paid[half].mean()
    directions: list[np.ndarray] = []
    chosen: list[_Summand] = []
    error = float(np.sqrt(np.mean((paid[~half] - paid[half].mean()) ** 2)))
    while len(chosen) < _MOST_SUMMANDS and error > _ROUNDED * paid.std():
        sizes = (open_inputs**2).sum(axis=0)
        # Of a summand that follows from the others only rounding is left. Several distances of one variable would draw
        # any curve.
        measured = {summand.target.name for summand in chosen if summand.target is not None}
        usable = (sizes > 1e-9 * len(open_paid)) & [one.target is None or one.target.name not in measured for one in tried]
        explained = np.where(usable, (open_paid @ open_inputs) ** 2 / np.maximum(sizes, 1e-300), 0.0)
        left = np.maximum(open_paid @ open_paid - explained, 0.0) * penalties
        best = int(np.argmin(np.where(usable, left, np.inf)))
        if not usable[best]:
            break
        summand, direction = tried[best], open_inputs[:, best]
        if summand.target is not None:
            summand = _nearby(summand.target, chosen, paid, half)
            direction = _standard(summand.values[half])
            for other in directions:
                direction = direction - other * (other @ direction)
        now = _error([*chosen, summand], paid, half, ~half)
        if now > _MIN_GAIN * error:
            break
        chosen.append(summand)
        error = now
        direction = direction / np.sqrt(direction @ direction)
        directions.append(direction)
        open_paid = open_paid - direction * (direction @ open_paid)
        open_inputs = open_inputs - np.outer(direction, direction @ open_inputs)
    # What came first may stand for what came later.
    for summand in list(chosen):
        others = [other for other in chosen if other is not summand]
        if others and _error(others, paid, half, ~half) * _MIN_GAIN < error:
            chosen, error = others, _error(others, paid, half, ~half)
    return chosen


def _nearby(target: _Target, chosen: Sequence[_Summand], paid: np.ndarray, half: np.ndarray) -> _Summand:
    """The distance from the number nearby that leaves least, in as few digits as can be."""

    def at(number: float) -> tuple[float, _Summand]:
        summand = _distance(replace(target, at=number))
        return _error([*chosen, summand], paid, half, half), summand

    low, high = target.between
    # Golden-section search: the error has one lowest place there, as far as the row counts tell.
    golden = (np.sqrt(5.0) - 1.0) / 2.0
    inner = [high - golden * (high - low), low + golden * (high - low)]
    errors = [at(number)[0] for number in inner]
    for _ in range(_HALVINGS):
        if errors[0] <= errors[1]:
            high, inner, errors = inner[1], [0.0, inner[0]], [0.0, errors[0]]
            inner[0] = high - golden * (high - low)
            errors[0] = at(inner[0])[0]
        else:
            low, inner, errors = inner[0], [inner[1], 0.0], [errors[1], 0.0]
            inner[1] = low + golden * (high - low)
            errors[1] = at(inner[1])[0]
    number = inner[int(errors[1] < errors[0])]
    least = min(errors)
    for digits in range(-3, 12):
        error, summand = at(round(number, digits))
        if error <= (1 + _ROUNDING) * least + _ROUNDED * paid.std():
            return summand
    return at(number)[1]


def _standard(values: np.ndarray) -> np.ndarray:
    standard: np.ndarray = (values - values.mean()) / max(float(values.std()), 1e-300)
    return standard


def _fit(inputs: np.ndarray, paid: np.ndarray) -> np.ndarray:
    """The weights of some columns, and of a constant, which comes last."""
    scales = np.maximum(np.abs(inputs).max(axis=0), 1e-300)
    ones = np.ones((len(inputs), 1))
    weights = np.linalg.lstsq(np.concatenate([inputs / scales, ones], axis=1), paid, rcond=None)[0]
    unscaled: np.ndarray = weights / np.append(scales, 1.0)
    return unscaled


def _error(summands: Sequence[_Summand], paid: np.ndarray, fitted: np.ndarray, unseen: np.ndarray) -> float:
    """The root mean square error in some rows of weights that were fitted to others."""
    inputs = np.stack([summand.values for summand in summands], axis=1)
    weights = _fit(inputs[fitted], paid[fitted])
    return float(np.sqrt(np.mean((paid[unseen] - inputs[unseen] @ weights[:-1] - weights[-1]) ** 2)))


def _rounded(inputs: np.ndarray, paid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What weights in as few digits as can be expect, and these weights."""
    exact = _fit(inputs, paid)

    def expected(weights: np.ndarray) -> np.ndarray:
        product: np.ndarray = inputs @ weights[:-1] + weights[-1]
        return product

    left = np.sqrt(np.mean((paid - expected(exact)) ** 2))
    # A summand that hardly varies may have a large weight and need more decimals than the others.
    reach = np.append(np.abs(inputs).max(axis=0), 1.0) / max(float(np.abs(paid).max()), 1e-300)
    for digits in range(1, 15):
        decimals = np.maximum(digits + np.ceil(np.log10(np.maximum(reach, 1e-300))), 0).astype(int)
        weights = np.array([round(float(weight), int(places)) for weight, places in zip(exact, decimals)])
        if np.sqrt(np.mean((paid - expected(weights)) ** 2)) <= (1 + _ROUNDING) * left + 1e-9 * paid.std():
            return expected(weights), weights
    return expected(exact), exact


def _terms(summands: Sequence[_Summand], weights: np.ndarray, end: Optional[str]) -> dict[str, str]:
    """Reward terms: what reads the same variables is one term, named after them."""
    parts: dict[tuple[str, ...], list[tuple[float, str]]] = {}
    always, at_end = float(weights[-1]), None
    for summand, weight in zip(summands, weights):
        if summand.is_end:
            # The sum of two round numbers is one, too.
            at_end = round(always + float(weight), 14)
        elif weight != 0.0:
            parts.setdefault(summand.reads, []).append((float(weight), summand.expression))
    terms = {" and ".join(reads): _sum(part) for reads, part in parts.items()}
    if at_end is not None and at_end != always:
        name = "survival" if abs(always) > abs(at_end) else "end"
        while name in terms:
            name += "_"
        terms[name] = f"if({end}, {_written(at_end)}, {_written(always)})"
    elif always != 0.0:
        terms["every step"] = _written(always)
    return terms


def _sum(parts: Sequence[tuple[float, str]]) -> str:
    text = ""
    for weight, expression in parts:
        amount = "" if abs(weight) == 1.0 else f"{_written(abs(weight))} * "
        sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
        text += f"{sign}{amount}{expression}"
    return text


def _written(value: float) -> str:
    value = float(value)
    return np.format_float_positional(value, trim="-") if 1e-6 < abs(value) < 1e9 or value == 0.0 else repr(value)
