"""The functions of the package."""

from __future__ import annotations

import ast
import os
from typing import Any, Callable, Mapping, Optional, Union

from . import _becausal
from ._becausal import Graph, Log, Run
from ._data import read
from ._policies import Batched
from ._record import record

__all__ = ["batched", "discover", "fit", "open", "read", "record", "train"]

_Path = Union[str, "os.PathLike[str]"]


def fit(
    log: Log,
    *,
    seed: int = 0,
    eta: Optional[float] = None,
    graph: Union[None, Graph, _Path] = None,
    model: str = "causal",
    members: Optional[int] = None,
    steps: Optional[int] = None,
    held_out: Optional[float] = None,
    test: Optional[Log] = None,
    compare: bool = False,
    progress: Any = None,
) -> Run:
    """Learns from a log: holds episodes out, discovers the causal graph, fits the world model, checks it.

    `seed` is that of everything random. `eta` is the p-value up to which a pair is an edge. `graph` is one that is
    used instead of a discovery. `model` is `causal`, `full` (reads everything) or `mlp`. `members` networks are
    fitted, each for at most `steps` steps (default: 5 and 2000). A share `held_out` of the rows (default: 0.1) is
    held out before the discovery, to score the model; with `test` another log is. `compare` fits the other models,
    too. `progress` is `False`, or a function of task, done, total, unit and note; what it raises stops the fit.

    >>> run = becausal.fit(log, members=2, steps=200)
    >>> run.graph.parents("outside'")
    ['outside']
    """
    return _becausal.fit(
        log, seed=seed, eta=eta, graph=graph, model=model, members=members, steps=steps,
        held_out=held_out, test=test, compare=compare, progress=progress,
    )  # fmt: skip


def discover(log: Log, *, seed: int = 0, eta: Optional[float] = None, progress: Any = None) -> Graph:
    """Discovers the causal graph of a log.

    >>> becausal.discover(log).parents("temperature'")
    ['temperature', 'outside', 'device']
    """
    return _becausal.discover(log, seed=seed, eta=eta, progress=progress)


def open(path: _Path, *, env: Any = None, policy: Any = None, normalize: Any = None, progress: Any = None) -> Run:
    """Opens the folder of a run.

    The folder holds neither a foreign environment nor a foreign agent. An environment that was recorded by its
    Gymnasium id is made again; `env` gives another one. `policy` is the agent, as in `record`.

    >>> run.save("run")
    >>> becausal.open("run")
    <Run of Greenhouse: 6 edges, 2,820 transitions>
    """
    return completed(_becausal.open(path, progress=progress), env, policy, normalize)


def completed(run: Run, env: Any, policy: Any, normalize: Any) -> Run:
    """Adds to a run the environment that it was recorded in, or another one, and an agent."""
    origin = run.origin or {}
    recorded = str(origin.get("environment", ""))
    if env is None and recorded.startswith("gym:"):
        env = _made_again(recorded, origin.get("options", {}))
    if env is None and policy is None:
        return run
    from ._gymnasium import Adapter, Maker
    from ._policies import adapter_of

    if env is None:
        env = run.schema.name
    maker = Maker.of(env)
    views = _views(maker, run.schema)
    adapter = Adapter(maker, views, _outcomes(run.schema, views), run.schema)
    return run._with(adapter, adapter_of(policy, views, normalize))


def _made_again(recorded: str, options: Mapping[str, str]) -> Any:
    """The environment that a log was recorded in; `None` where it is not installed."""
    try:
        import gymnasium

        id = recorded.removeprefix("gym:")
        if id.startswith("MiniGrid"):
            import minigrid  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
        spec = gymnasium.spec(id)
        kwargs = {name: ast.literal_eval(value) for name, value in options.items()}
    except Exception:
        return None
    if kwargs == spec.kwargs:
        return id
    return lambda: gymnasium.make(id, **kwargs)


def _views(maker: Any, schema: Any) -> Any:
    """The variables of an environment under the names of a schema."""
    from ._gymnasium import Views

    views = Views(maker)
    given = [column["name"] for column in schema.columns if column["role"] in ("state", "action")]
    usual = [name for name, _ in views.state.variables + views.action.variables]
    if views.built_in is not None or given == usual:
        return views
    states = given[: views.state.width]
    actions = [column for column in schema.columns if column["role"] == "action"]
    if len(actions) == 1 and actions[0]["labels"]:
        return Views(maker, states, actions[0]["labels"])
    return Views(maker, states, [column["name"] for column in actions])


def _outcomes(schema: Any, views: Any) -> Any:
    """The outcomes of a schema that was made by `record`."""
    import re

    import numpy as np

    from ._gymnasium import Outcomes

    if views.built_in is not None and views.built_in == schema:
        return Outcomes(views)
    rewards: Optional[np.ndarray] = None
    for column in schema.columns:
        if column["name"] == "paid" and column["kind"] == "categorical":
            rewards = np.array([float(re.sub("^pays ", "", label)) for label in column["labels"]])
    has_over = "over" in schema.outcomes
    end = None if has_over else schema.end
    if "paid" in schema.outcomes:
        many = np.arange(100.0)
        rewards = rewards if rewards is not None else many
        return Outcomes(views, "learn", end, rewards, has_over)
    return Outcomes(views, dict(schema.rewards), end, None, has_over)


def train(
    environment: str,
    path: _Path,
    *,
    preset: str = "default",
    steps: Optional[int] = None,
    until: Optional[float] = None,
    seed: int = 0,
    settings: Optional[str] = None,
    options: Optional[Mapping[str, Any]] = None,
    progress: Any = None,
) -> Run:
    """Learns to act in a built-in environment, in the folder `path`, and opens the run.

    `settings` is TOML that changes those of the `preset`; `options` are those of the environment. `steps` are real
    steps; `until` is a mean return that ends the training early.
    """
    given = {name: _option(value) for name, value in (options or {}).items()}
    return _becausal.train(
        environment, path, preset=preset, steps=steps, until=until, seed=seed, settings=settings,
        options=given, progress=progress,
    )  # fmt: skip


def _option(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def batched(function: Callable[[Any], Any]) -> Batched:
    """A policy that takes a whole batch of observations and returns as many actions.

    >>> policy = becausal.batched(lambda observations: (observations[:, 1] > 0) * 2)
    >>> becausal.record("MountainCar-v0", policy, rows=300).origin["policy"]
    '<lambda>'
    """
    return Batched(function)
