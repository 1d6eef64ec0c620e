"""The functions of the package."""

from __future__ import annotations

import ast
import os
import warnings
from typing import Any, Callable, Mapping, Union

from . import _becausal
from ._becausal import Log, Run
from ._data import read
from ._errors import MissingError
from ._gymnasium import Adapter, outcomes_of, views_of
from ._makers import Maker
from ._policies import Batched, adapter_of
from ._record import record

__all__ = ["batched", "open", "read", "record"]

_Path = Union[str, "os.PathLike[str]"]


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
    return run._with(*_adapters(run, run.has_environment, env, policy, normalize))


def adapters_of_log(log: Log, env: Any, policy: Any, normalize: Any) -> tuple[Any, Any]:
    """The adapters of the environment of a log, or of another one, and of the agent that its run is to explain."""
    recorded, acting = log._adapters()
    if env is None and policy is None:
        return recorded, acting
    if env is None and recorded is not None:
        return recorded, adapter_of(policy, recorded.views, normalize)
    id = str((log.origin or {}).get("environment", "")) or log.schema.name
    built_in = {one["id"] for one in _becausal.environments()}
    is_built_in = id in built_in and _becausal.Schema.of(id).columns == log.schema.columns
    environment, agent = _adapters(log, is_built_in, env, policy, normalize)
    return environment, agent if policy is not None else acting


def _adapters(of: Union[Run, Log], is_built_in: bool, env: Any, policy: Any, normalize: Any) -> tuple[Any, Any]:
    """The adapters of the environment and of an agent for a run or a log; `None` where there is none."""
    origin = of.origin or {}
    recorded = str(origin.get("environment", ""))
    if env is None and is_built_in:
        # A built-in environment is there with the options it was recorded with; the agent needs its spaces.
        id = recorded or of.schema.name
        views = views_of(Maker.of(f"becausal/{id.removeprefix('becausal/')}"), of.schema)
        return None, adapter_of(policy, views, normalize)

    def played(env: Any) -> Adapter:
        maker = Maker.of(env)
        views = views_of(maker, of.schema)
        return Adapter(maker, views, outcomes_of(of.schema, views), of.schema)

    if env is not None:
        adapter = played(env)
        return adapter, adapter_of(policy, adapter.views, normalize)
    why = "the log does not say how its environment is made"
    if recorded.startswith("gym:"):
        try:
            adapter = played(_made_again(recorded, origin.get("options", {})))
        except Exception as error:
            why = f"{recorded.removeprefix('gym:')} cannot be made again ({error})"
            if policy is None:
                warnings.warn(f"{why}: the run is opened without it; `env` gives another one", stacklevel=4)
        else:
            return adapter, adapter_of(policy, adapter.views, normalize)
    if policy is None:
        return None, None
    raise MissingError(f"an agent needs its environment, and {why}: give it as `env`")


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


def batched(function: Callable[[Any], Any]) -> Batched:
    """A policy that takes a whole batch of observations and returns as many actions.

    >>> policy = becausal.batched(lambda observations: (observations[:, 1] > 0) * 2)
    >>> becausal.record("MountainCar-v0", policy, rows=300).origin["policy"]
    '<lambda>'
    """
    return Batched(function)
