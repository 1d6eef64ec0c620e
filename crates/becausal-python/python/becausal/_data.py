"""Data in and out: arrays, frames, episodes and buffers of other libraries."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _becausal
from ._errors import ArgumentError, DataError, MissingError, NotFoundError
from ._gymnasium import Adapter, Reward, Views, check_one_schema, views_of
from ._makers import Maker
from ._policies import adapter_of
from ._rows import Columns, Rows, log_of

_ENDINGS = (".csv", ".parquet", ".npz")


def read(
    source: Any,
    schema: Any = None,
    *,
    ignore: Any = None,
    missing: str = "refuse",
    env: Any = None,
    names: Optional[Sequence[str]] = None,
    actions: Optional[Sequence[str]] = None,
    reward: Reward = None,
    end: Optional[str] = None,
    angles: Optional[Sequence[str]] = None,
    policy: Any = None,
    normalize: Any = None,
    progress: Any = None,
) -> _becausal.Log:
    """Reads recorded transitions.

    `source` is the path of a `.csv`, `.parquet` or `.npz` file, a dict of arrays, a pandas or Polars frame, a Minari
    dataset or its id, a replay or rollout buffer of SB3, or a list of episodes as Gymnasium plays them (dicts or
    objects with `observations`, one more than `actions`, `rewards`, `terminations` and `truncations`).

    `schema` is a `Schema`, the path of a TOML file, or the id of a built-in environment. A file that becausal wrote
    carries its own. Episodes and buffers need none: their spaces, or those of `env`, say what the variables are, with
    `names`, `actions`, `reward`, `end` and `angles` as in `Schema.of`. With `env`, what would have happened can be tried in it, and
    `policy` is the agent that acted, as in `record`. A rollout buffer of an agent that was trained with VecNormalize holds
    normalised numbers: `normalize`, the VecNormalize, turns them back. `ignore` names columns to leave out, `missing` says what
    to do with cells that are empty or NaN: `refuse`, `drop`, `episode` or `hold`.

    >>> import numpy as np
    >>> log = becausal.read(
    ...     {"height": np.array([0.0, 1.0, 3.0]), "engine": ["on", "on", "off"], "episode": [0, 0, 0]},
    ...     schema=becausal.Schema('''
    ... name = "Hover"
    ... [state]
    ... height = { kind = "continuous" }
    ... [action]
    ... engine = { kind = "categorical", labels = ["off", "on"] }
    ... '''))
    >>> log.to_dict()["height'"].tolist()
    [1.0, 3.0]
    """
    said = {
        "env": env, "names": names, "actions": actions, "reward": reward, "end": end, "angles": angles, "policy": policy,
        "normalize": normalize,
    }  # fmt: skip

    def only_columns() -> None:
        for name, value in said.items():
            if value is not None:
                raise ArgumentError(
                    f"`{name}` is for episodes and buffers; files, dicts and frames are described by `schema` alone, and "
                    "becausal.open gives a run its environment and agent"
                )

    def only_episodes() -> None:
        if ignore is not None or missing != "refuse":
            raise ArgumentError("`ignore` and `missing` are for files, dicts and frames: episodes have no columns")
        if policy is not None and env is None:
            raise ArgumentError("`policy` needs `env`, the environment that the agent acts in")

    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not path.lower().endswith(_ENDINGS) and not os.path.exists(path) and re.search(r"-v\d+$", path):
            source = _minari(path)
        else:
            only_columns()
            return _becausal.read(path, schema, ignore, missing, progress)
    if hasattr(source, "iterate_episodes"):
        only_episodes()
        spaces = (source.observation_space, source.action_space)
        name = str(getattr(getattr(source, "spec", None), "dataset_id", "Minari"))
        env_spec = getattr(getattr(source, "spec", None), "env_spec", None)
        name = env_spec.id if env_spec is not None else name
        return _from_episodes(source.iterate_episodes(), env, spaces, name, schema, names, actions, reward, end, angles, policy, normalize)
    if _is_buffer(source, "next_observations"):
        only_episodes()
        return _from_episodes(
            _replay_episodes(source), env, (source.observation_space, source.action_space), "replay buffer",
            schema, names, actions, reward, end, angles, policy, normalize,
        )  # fmt: skip
    if _is_buffer(source, "episode_starts"):
        only_episodes()
        return _from_episodes(
            _rollout_episodes(source, normalize), env, (source.observation_space, source.action_space), "rollout buffer",
            schema, names, actions, reward, end, angles, policy, normalize, [_NO_ENDS],
        )  # fmt: skip
    if isinstance(source, Mapping) or hasattr(source, "columns") or hasattr(source, "column_names"):
        if schema is None:
            raise ArgumentError(
                "columns in memory carry no schema: give `schema`, a becausal.Schema or the path of a TOML file"
            )
        only_columns()
        columns = columns_of(source)
        given = schema if isinstance(schema, _becausal.Schema) else _becausal.Schema.read(schema)
        # `to_dict` and `to_pandas` say in which rows the agent acted itself.
        if missing == "refuse" and not any(column["name"] == "own" for column in given.columns):
            own = [column for column in columns if column[:2] == ("own", "b")]
            log = _becausal.assemble([column for column in columns if column not in own], schema, ignore, missing)
            return log._with(own=np.frombuffer(own[0][2], dtype=bool)) if own else log
        return _becausal.assemble(columns, schema, ignore, missing)
    if isinstance(source, Iterable) and not isinstance(source, np.ndarray):
        only_episodes()
        return _from_episodes(source, env, None, "episodes", schema, names, actions, reward, end, angles, policy, normalize)
    raise ArgumentError(
        f"cannot read {type(source).__name__}: expected the path of a file, a dict of arrays, a frame, a Minari dataset, "
        "a buffer of SB3, or a list of episodes"
    )


def columns_of(source: Any) -> Columns:
    """The columns of a dict or frame, as bytes or texts."""
    columns: Columns = []
    if isinstance(source, Mapping):
        pairs = [(str(name), values) for name, values in source.items()]
    elif hasattr(source, "column_names"):
        pairs = [(str(name), source.column(name)) for name in source.column_names]
    else:
        pairs = [(str(name), source[name]) for name in source.columns]
    seen: set[str] = set()
    for name, values in pairs:
        if name in seen:
            raise DataError(f"several columns are called `{name}`")
        seen.add(name)
        array = _array(name, values)
        if array.ndim == 2:
            vector = name.removesuffix("'")
            prime = "'" if name.endswith("'") else ""
            for element in range(array.shape[1]):
                columns.append(_column(f"{vector}{prime}[{element}]", array[:, element]))
        elif array.ndim == 1:
            columns.append(_column(name, array))
        else:
            raise DataError(f"column `{name}` has {array.ndim} axes, expected one, or two for a vector")
    return columns


def _array(name: str, values: Any) -> np.ndarray:
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    try:
        return np.asarray(values)
    except ValueError as error:
        raise DataError(f"column `{name}` is not an array: {error}") from error


def _column(name: str, array: np.ndarray) -> tuple[str, str, Any]:
    kind = array.dtype.kind
    if kind == "f":
        return name, "f", np.ascontiguousarray(array, dtype=np.float64).tobytes()
    if kind == "b":
        return name, "b", np.ascontiguousarray(array).tobytes()
    if kind == "i" or (kind == "u" and (array.size == 0 or int(array.max()) < 2**63)):
        return name, "i", np.ascontiguousarray(array, dtype=np.int64).tobytes()
    if kind in "mM":
        # `tolist` makes whole numbers of times in nanoseconds, which would be read as numbers.
        return name, "t", ["" if np.isnat(value) else str(value) for value in array]
    return name, "t", [_text(value) for value in array.tolist()]


def _text(value: Any) -> str:
    # pandas has NA and NaT for what is missing; neither is equal to itself.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, float) and value != value:
        return ""
    return str(value)


def _minari(id: str) -> Any:
    try:
        import minari  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingError(f"{id}: Minari datasets need minari: pip install 'becausal[minari]'") from error
    is_here = id in minari.list_local_datasets()
    try:
        return minari.load_dataset(id, download=not is_here)
    except Exception as error:
        if is_here:
            raise DataError(f"{id}: minari cannot read it: {type(error).__name__}: {error}") from error
        raise NotFoundError(
            f"{id}: there is neither a file nor a local Minari dataset of this name, and it cannot be downloaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def _is_buffer(source: Any, part: str) -> bool:
    """Whether it is a buffer of SB3 with this part, and one that can be read."""
    if not hasattr(source, "buffer_size") or not hasattr(source, "observations"):
        return False
    if getattr(source, "optimize_memory_usage", False):
        raise ArgumentError(
            "a replay buffer with optimize_memory_usage=True keeps no state after the last step of an episode: make it "
            "without"
        )
    if not getattr(source, "handle_timeout_termination", True):
        raise ArgumentError(
            "a replay buffer with handle_timeout_termination=False does not tell the end of an episode from a time limit: "
            "make it without"
        )
    if isinstance(source.observations, Mapping):
        raise ArgumentError(
            "buffers of Dict observations are not read: give the episodes as lists, or record the agent with "
            "becausal.record"
        )
    return hasattr(source, part)


_NO_ENDS = (
    "a rollout buffer keeps neither the last step of an episode nor whether it was the end: nothing can be said about ends"
)


def _replay_episodes(buffer: Any) -> Iterable[dict[str, Any]]:
    end = buffer.buffer_size if buffer.full else buffer.pos
    if end == 0:
        raise DataError("the replay buffer is empty")
    order = np.arange(end)
    if buffer.full:
        order = np.roll(order, -buffer.pos)
    timeouts = getattr(buffer, "timeouts", np.zeros_like(buffer.dones))
    for env in range(buffer.n_envs):
        start = 0
        dones = buffer.dones[order, env].astype(bool)
        late = timeouts[order, env].astype(bool)
        ends = np.flatnonzero(dones)
        for last in [*ends, end - 1]:
            if last < start:
                continue
            rows = order[start : last + 1]
            final = buffer.next_observations[rows[-1], env]
            over = bool(dones[last]) and not bool(late[last])
            flags = np.zeros(len(rows), dtype=bool)
            flags[-1] = over
            yield {
                "observations": np.concatenate([buffer.observations[rows, env], final[None]]),
                "actions": _unscaled(buffer, buffer.actions[rows, env]),
                "rewards": buffer.rewards[rows, env],
                "terminations": flags,
            }
            start = last + 1


def _unscaled(buffer: Any, actions: np.ndarray) -> np.ndarray:
    # Off-policy algorithms keep continuous actions scaled to [-1, 1].
    space = buffer.action_space
    if not hasattr(space, "low"):
        return actions
    scaled: np.ndarray = space.low + 0.5 * (actions + 1.0) * (space.high - space.low)
    return scaled


def _rollout_episodes(buffer: Any, normalize: Any = None) -> Iterable[dict[str, Any]]:
    if not (buffer.full or buffer.pos):
        raise DataError("the rollout buffer is empty")
    length, envs = buffer.rewards.shape
    shape = buffer.observation_space.shape
    # `get` flattens the buffer, environment by environment.
    if buffer.observations.shape[: 2] != (length, envs):
        observations = buffer.observations.reshape(envs, length, *shape).swapaxes(0, 1)
        actions = buffer.actions.reshape(envs, length, -1).swapaxes(0, 1)
    else:
        observations, actions = buffer.observations, buffer.actions
    starts = buffer.episode_starts.reshape(length, envs).astype(bool)
    rewards = buffer.rewards
    if normalize is not None:
        observations = normalize.unnormalize_obs(observations)
        rewards = normalize.unnormalize_reward(rewards)
    # Where it is not full, the rest is zeros.
    length = length if buffer.full else buffer.pos
    for env in range(envs):
        begins = [0, *[row for row in range(1, length) if starts[row, env]], length]
        for first, last in zip(begins, begins[1:]):
            # The state after the last step is not kept: that step is left out.
            if last - first > 1:
                rows = slice(first, last - 1)
                yield {
                    "observations": observations[first:last, env],
                    "actions": actions[rows, env],
                    "rewards": rewards[rows, env],
                    "terminations": np.zeros(last - 1 - first, dtype=bool),
                }


class _Spaces:
    """Two spaces instead of an environment."""

    def __init__(self, observation: Any, action: Any) -> None:
        self.observation_space, self.action_space = observation, action

    def close(self) -> None:
        pass


def _get(episode: Any, *names: str) -> Any:
    for name in names:
        if isinstance(episode, Mapping):
            if name in episode:
                return episode[name]
        elif hasattr(episode, name):
            return getattr(episode, name)
    return None


def _from_episodes(
    episodes: Iterable[Any],
    env: Any,
    spaces: Optional[tuple[Any, Any]],
    name: str,
    schema: Any,
    names: Optional[Sequence[str]],
    actions: Optional[Sequence[str]],
    reward: Reward,
    end: Optional[str],
    angles: Optional[Sequence[str]],
    policy: Any,
    normalize: Any,
    notes: Sequence[str] = (),
) -> _becausal.Log:
    if env is not None:
        maker = Maker.of(env)
    elif spaces is not None:
        maker = Maker(lambda: _Spaces(*spaces), name, {})
    else:
        raise ArgumentError("a list of episodes carries no spaces: give `env`, the environment that was played")
    given: Optional[_becausal.Schema] = None
    if schema is not None:
        check_one_schema(schema, names, actions, reward, end, angles)
        given = schema if isinstance(schema, _becausal.Schema) else _becausal.Schema.read(schema)
    views = Views(maker, names, actions, angles) if given is None else views_of(maker, given)
    states, after, taken, paid, over, cut, numbers = [], [], [], [], [], [], []
    for number, episode in enumerate(episodes):
        observations = _get(episode, "observations", "obs", "observation")
        acted = _get(episode, "actions", "action")
        rewards = _get(episode, "rewards", "reward")
        if observations is None or acted is None or rewards is None:
            raise DataError(f"episode {number} lacks observations, actions or rewards")
        rewards = np.asarray(rewards, dtype=np.float64).reshape(-1)
        count = len(rewards)
        if count == 0:
            continue
        terminations = _get(episode, "terminations", "terminated")
        truncations = _get(episode, "truncations", "truncated")
        for told, flags in (("terminations", terminations), ("truncations", truncations)):
            if flags is not None and np.size(flags) not in (1, count):
                raise DataError(f"episode {number} has {count} rewards and {np.size(flags)} {told}, expected as many")
        if isinstance(observations, (list, tuple)) and not hasattr(views.observation_space, "spaces"):
            observations = np.stack([np.asarray(one) for one in observations])
        elif isinstance(observations, list):
            observations = views.state.stack(observations)
        try:
            flat = views.state.flats(observations, count + 1)
        except ValueError as error:
            shape = np.shape(observations) if not isinstance(observations, Mapping) else "a dict"
            raise DataError(
                f"episode {number} has {count} rewards and observations of shape {shape}, expected "
                f"{count + 1} observations of {views.observation_space}"
            ) from error
        if flat.shape[1] != views.state.width:
            raise DataError(
                f"episode {number}: observations of {flat.shape[1]} numbers, expected {views.state.width}: one more "
                f"observation than rewards ({count}), each of {views.observation_space}"
            )
        if not (np.isfinite(flat).all() and np.isfinite(rewards).all()):
            raise DataError(f"episode {number} has observations or rewards that are not finite numbers")
        if isinstance(acted, list):
            acted = views.action.stack(acted)
        try:
            moves = views.action.flats(acted, count)
        except ValueError as error:
            raise DataError(f"episode {number}: {error}; expected {count} actions of {views.action_space}") from error
        last = np.zeros(count, dtype=bool)
        last[-1] = bool(np.asarray(terminations).reshape(-1)[-1]) if terminations is not None else False
        late = np.zeros(count, dtype=bool)
        late[-1] = not last[-1] or (truncations is not None and bool(np.asarray(truncations).reshape(-1)[-1]))
        states.append(flat[:-1])
        after.append(flat[1:])
        taken.append(moves)
        paid.append(rewards)
        over.append(last)
        cut.append(late & ~last)
        numbers.append(np.full(count, number, dtype=np.int64))
    if not states:
        raise DataError("there are no episodes with steps")
    rows = Rows(
        states=np.concatenate(states),
        actions=np.concatenate(taken),
        after=np.concatenate(after),
        rewards=np.concatenate(paid),
        terminated=np.concatenate(over),
        truncated=np.concatenate(cut),
        episodes=np.concatenate(numbers),
    )
    log, outcomes = log_of(rows, views, maker.id, given, reward, end)
    for note in outcomes.notes:
        warnings.warn(note, stacklevel=3)
    said = [*notes, *outcomes.notes, *outcomes.rules]
    if env is None:
        return log._with(notes=said)
    return log._with(Adapter(maker, views, outcomes, log.schema), adapter_of(policy, views, normalize), None, said)


# ---- out ------------------------------------------------------------------------------------------------


def to_dict(log: _becausal.Log) -> dict[str, np.ndarray]:
    """`Log.to_dict`."""
    labels = {column["name"]: column["labels"] for column in log.schema.columns}
    arrays: dict[str, np.ndarray] = {}
    for name, kind, numbers in log._columns():
        values = np.frombuffer(numbers)
        if kind == "categorical":
            arrays[name] = np.array(labels[name], dtype=object)[values.astype(np.int64)]
        elif kind == "boolean":
            arrays[name] = values != 0.0
        elif kind == "integer":
            arrays[name] = values.astype(np.int64)
        else:
            arrays[name] = values
    if log.own is not None:
        arrays["own"] = log.own
    return arrays


def _pandas(what: str) -> Any:
    try:
        import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingError(f"{what} needs pandas: pip install pandas") from error
    return pandas


def to_pandas(log: _becausal.Log) -> Any:
    """`Log.to_pandas`."""
    pandas = _pandas("to_pandas")
    return pandas.DataFrame(to_dict(log))


def edges(graph: _becausal.Graph) -> Any:
    """`Graph.edges`."""
    pandas = _pandas("edges")
    found = [pair for pair in graph.pairs if pair["verdict"] == "edge"]
    return pandas.DataFrame(found, columns=["cause", "effect", "strength", "p"])


def to_networkx(graph: _becausal.Graph) -> Any:
    """`Graph.to_networkx`."""
    try:
        import networkx  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingError("to_networkx needs networkx: pip install networkx") from error
    network = networkx.DiGraph()
    network.add_nodes_from(graph.causes, part="cause")
    network.add_nodes_from(graph.effects, part="effect")
    for pair in graph.pairs:
        if pair["verdict"] == "edge":
            network.add_edge(pair["cause"], pair["effect"], p=pair["p"], strength=pair["strength"])
    return network
