"""The functions of the package."""

from __future__ import annotations

import ast
import os
import warnings
from typing import Any, Callable, Mapping, Optional, Union

from . import _becausal
from ._becausal import Graph, Log, Run
from ._data import read
from ._errors import ArgumentError, MissingError
from ._gymnasium import Adapter, Maker, outcomes_of, views_of
from ._policies import Batched, adapter_of
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
    _check_seed(seed)
    return _becausal.fit(
        log, seed=seed, eta=eta, graph=graph, model=model, members=members, steps=steps,
        held_out=held_out, test=test, compare=compare, progress=progress,
    )  # fmt: skip


def discover(log: Log, *, seed: int = 0, eta: Optional[float] = None, progress: Any = None) -> Graph:
    """Discovers the causal graph of a log.

    >>> becausal.discover(log).parents("temperature'")
    ['temperature', 'outside', 'device']
    """
    _check_seed(seed)
    return _becausal.discover(log, seed=seed, eta=eta, progress=progress)


def open(path: _Path, *, env: Any = None, policy: Any = None, normalize: Any = None, progress: Any = None) -> Run:
    """Opens the folder of a run.

    The folder holds neither a foreign environment nor a foreign agent. An environment that was recorded by its
    Gymnasium id is made again; one with wrappers, or made by a function, has to be given as `env`. `policy` is the agent,
    as in `record`.

    >>> run.save("run")
    >>> becausal.open("run")
    <Run of Greenhouse: 6 edges, 2,820 transitions>
    """
    return completed(_becausal.open(path, progress=progress), env, policy, normalize)


def completed(run: Run, env: Any, policy: Any, normalize: Any) -> Run:
    """Adds to a run the environment that it was recorded in, or another one, and an agent."""
    if policy is None and env is None and run.has_environment:
        return run
    origin = run.origin or {}
    recorded = str(origin.get("environment", ""))
    if env is None and run.has_environment:
        # A built-in environment is there with the options it was recorded with; the agent needs its spaces.
        id = recorded or run.schema.name
        views = views_of(Maker.of(f"becausal/{id.removeprefix('becausal/')}"), run.schema)
        return run._with(None, adapter_of(policy, views, normalize))

    def played(env: Any) -> Adapter:
        maker = Maker.of(env)
        views = views_of(maker, run.schema)
        return Adapter(maker, views, outcomes_of(run.schema, views), run.schema)

    if env is not None:
        adapter = played(env)
        return run._with(adapter, adapter_of(policy, adapter.views, normalize))
    why = "the log does not say how its environment is made"
    if recorded.startswith("gym:"):
        try:
            adapter = played(_made_again(recorded, origin.get("options", {})))
        except Exception as error:
            why = f"{recorded.removeprefix('gym:')} cannot be made again ({error})"
            if policy is None:
                warnings.warn(f"{why}: the run is opened without it; `env` gives another one", stacklevel=3)
        else:
            return run._with(adapter, adapter_of(policy, adapter.views, normalize))
    if policy is None:
        return run
    raise MissingError(f"an agent needs its environment, and {why}: give it as `env` of becausal.open")


def _made_again(recorded: str, options: Mapping[str, str]) -> Any:
    """The environment that a log was recorded in."""
    try:
        import gymnasium
    except ImportError as error:
        raise MissingError("this needs Gymnasium: pip install 'becausal[gymnasium]'") from error

    id = recorded.removeprefix("gym:")
    kwargs = {name: ast.literal_eval(value) for name, value in options.items()}
    if kwargs == Maker.of(id).options:
        return id
    return gymnasium.make(id, disable_env_checker=True, **kwargs)


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
    _check_seed(seed)
    given = {name: _option(value) for name, value in (options or {}).items()}
    return _becausal.train(
        environment, path, preset=preset, steps=steps, until=until, seed=seed, settings=settings,
        options=given, progress=progress,
    )  # fmt: skip


def _check_seed(seed: int) -> None:
    if not 0 <= seed < 2**64:
        raise ArgumentError(f"`seed` is {seed}, expected a whole number from 0 to 2^64 - 1")


def _option(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def batched(function: Callable[[Any], Any]) -> Batched:
    """A policy that takes a whole batch of observations and returns as many actions.

    >>> policy = becausal.batched(lambda observations: (observations[:, 1] > 0) * 2)
    >>> becausal.record("MountainCar-v0", policy, rows=300).origin["policy"]
    '<lambda>'
    """
    return Batched(function)
