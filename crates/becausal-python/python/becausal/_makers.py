"""How fresh copies of a Gymnasium environment are made."""

from __future__ import annotations

import ast
import copy
import importlib
from typing import Any, Callable, Mapping

from ._errors import ArgumentError, MissingError


class Maker:
    """Makes fresh copies of an environment."""

    def __init__(
        self, make: Callable[[], Any], id: str, options: Mapping[str, Any], is_plain: bool = False
    ) -> None:
        self._make, self.id, self.options = make, id, dict(options)
        #: Whether its id and options are all that it takes to make it again.
        self.is_plain = is_plain

    @property
    def origin(self) -> str:
        """What a log calls it: `gym:ID` where that makes it again."""
        return f"gym:{self.id}" if self.is_plain else f"made:{self.id}"

    def __call__(self) -> Any:
        return self._make()

    @staticmethod
    def of(env: Any) -> "Maker":
        """From an id, an environment that knows how it was made, or a function."""
        try:
            import gymnasium
        except ImportError as error:
            raise MissingError("this needs Gymnasium: pip install 'becausal[gymnasium]'") from error

        if isinstance(env, str):
            id = env.removeprefix("gym:")
            if id.startswith("MiniGrid"):
                _import_minigrid()
            try:
                module, _, bare = id.rpartition(":")
                if module:
                    importlib.import_module(module)
                spec: Any = gymnasium.spec(bare)
            except (gymnasium.error.Error, ImportError) as error:
                raise ArgumentError(f"{id}: {error}") from error
            return Maker(lambda: gymnasium.make(spec, disable_env_checker=True), id, spec.kwargs, True)
        if isinstance(env, gymnasium.vector.VectorEnv) or hasattr(env, "num_envs"):
            return Maker.of(_one_of(env))
        if isinstance(env, gymnasium.Env):
            spec = env.spec
            if spec is None:
                raise ArgumentError(
                    f"{env} does not say how it was made (its spec is None), and what would have happened "
                    "is tried in fresh copies: give a function that makes it, lambda: MyEnv(...)"
                )
            spec = copy.deepcopy(spec)
            if spec.kwargs.get("render_mode") == "human":
                # The copies are not to be looked at.
                del spec.kwargs["render_mode"]
            return Maker(
                lambda: gymnasium.make(spec, disable_env_checker=True), spec.id, spec.kwargs, _is_plain(spec)
            )
        if callable(env):
            name = "environment"

            def make() -> Any:
                made = env()
                if not isinstance(made, gymnasium.Env):
                    raise ArgumentError(f"the function returned {made!r}, expected a gymnasium.Env")
                return made

            first = make()
            if first.spec is not None:
                name = first.spec.id
            else:
                name = type(first.unwrapped).__name__
            first.close()
            return Maker(make, name, {})
        raise ArgumentError(f"{env!r} is neither the id of an environment, nor one, nor a function that makes one")


def _is_plain(spec: Any) -> bool:
    """Whether an environment is that of its id, with options that can be written down."""
    import gymnasium

    registered = gymnasium.registry.get(spec.id)
    if registered is None or spec.additional_wrappers:
        return False
    if spec.max_episode_steps != registered.max_episode_steps:
        return False
    try:
        return all(ast.literal_eval(repr(value)) == value for value in spec.kwargs.values())
    except (ValueError, SyntaxError):
        return False


#: Wrappers that change neither observations nor actions nor rewards.
_HARMLESS = {
    "Autoreset", "HumanRendering", "OrderEnforcing", "PassiveEnvChecker", "RecordEpisodeStatistics",
    "RecordVideo", "RenderCollection", "TimeLimit",
}  # fmt: skip


def is_wrapped(env: Any) -> bool:
    """Whether the environment is another one than its id says."""
    import gymnasium

    while isinstance(env, gymnasium.Wrapper):
        if type(env).__name__ not in _HARMLESS:
            return True
        env = env.env
    return False


#: Wrappers of vector environments that change neither observations nor actions nor rewards, or, as VecNormalize does, only
#: those that the agent is told.
_HARMLESS_VECTORS = {
    "DictInfoToList", "HumanRendering", "RecordEpisodeStatistics", "RecordVideo", "VecCheckNan", "VecMonitor", "VecNormalize",
    "VecVideoRecorder",
}  # fmt: skip


def _one_of(vector: Any) -> Any:
    """One environment of a vector environment of Gymnasium or SB3: an id, an environment, or a function."""
    import gymnasium

    while type(vector).__name__ in _HARMLESS_VECTORS:
        vector = vector.venv if hasattr(vector, "venv") else vector.env
    name = type(vector).__name__
    if isinstance(vector, gymnasium.vector.VectorWrapper) or hasattr(vector, "venv"):
        raise ArgumentError(
            f"{name} changes what its environments observe, take or pay, and what would have happened is tried in copies of "
            "one of them: give a function that makes one, with a wrapper that does the same"
        )
    envs, functions = getattr(vector, "envs", None), getattr(vector, "env_fns", None)
    if envs:
        described = sorted({str((one.spec, one.observation_space, one.action_space)) for one in envs})
        if len(described) > 1:
            raise ArgumentError(f"the environments of {name} are not all alike ({'; '.join(described)}): give one of them")
        one = envs[0]
        while type(one).__name__ == "Monitor":
            one = one.env
        if one.spec is not None:
            return one
    if functions:
        return functions[0]
    if getattr(vector, "spec", None) is not None:
        of_vector = ("num_envs", "vectorization_mode", "vector_kwargs", "max_episode_steps")
        options = {key: value for key, value in vector.spec.kwargs.items() if key not in of_vector}
        return gymnasium.make(vector.spec.id, disable_env_checker=True, **options)
    raise ArgumentError(
        f"{name} does not say what its environments are, and what would have happened is tried in fresh copies of one: give "
        "its id, or a function that makes one of its environments"
    )


def _import_minigrid() -> None:
    try:
        import minigrid  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
    except ImportError as error:
        raise MissingError("MiniGrid environments need minigrid: pip install minigrid") from error
