"""Agents of other libraries, as something that acts in states.

An adapter turns states (the numbers of the schema) into what the agent observes, asks it, and turns its actions
into numbers again. `modes` and `probabilities` take and give the bytes of arrays, one row per state.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import numpy as np

from . import _becausal
from ._errors import ArgumentError, MissingError
from ._gymnasium import Views
from ._spaces import safe_name

_threads = threading.local()


def _one_torch_thread() -> None:
    # Torch's threads beside ours are up to 60 times slower. The setting is of the calling thread.
    if not getattr(_threads, "is_set", False):
        import torch  # type: ignore[import-not-found,unused-ignore]

        torch.set_num_threads(1)
        _threads.is_set = True


@contextlib.contextmanager
def torch_threads_restored() -> Iterator[None]:
    """Gives torch its threads back afterwards: the caller may train on."""
    before = sys.modules["torch"].get_num_threads() if "torch" in sys.modules else None
    try:
        yield
    finally:
        if getattr(_threads, "is_set", False) and before is not None:
            sys.modules["torch"].set_num_threads(before)
            _threads.is_set = False


class Adapter:
    """An agent that is asked for many states at once."""

    #: What it is, in a word.
    name = "agent"
    #: Whether it answers many states in one call.
    quick = True

    def __init__(self, views: Views) -> None:
        self.views = views

    def act(self, observations: Any, count: int) -> Any:
        """The most likely actions for a batch of observations."""
        raise NotImplementedError

    def weigh(self, observations: Any, count: int) -> Optional[np.ndarray]:
        """`[count, actions]` probabilities of a discrete action; `None` where they are not known."""
        return None

    def _observations(self, states: bytes, rows: int) -> Any:
        return self.views.state.builds(np.frombuffer(states).reshape(rows, -1))

    def modes(self, states: bytes, rows: int) -> bytes:
        return self.modes_of(np.frombuffer(states).reshape(rows, -1)).tobytes()

    def modes_of(self, states: np.ndarray) -> np.ndarray:
        """`[rows, actions]` numbers for `[rows, states]` numbers."""
        rows = len(states)
        actions = self.act(self.views.state.builds(states), rows)
        return self._numbers(actions, rows)

    def _numbers(self, actions: Any, rows: int) -> np.ndarray:
        view = self.views.action
        space = self.views.action_space
        try:
            numbers = view.flats(actions, rows)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise ArgumentError(f"the policy returned what is not an action of {space}: {error}") from error
        if numbers.shape != (rows, view.width):
            raise ArgumentError(
                f"the policy returned {numbers.shape[1]} numbers for an action, expected {view.width}: "
                f"the action is {space}"
            )
        if not np.all(np.isfinite(numbers)):
            raise ArgumentError(f"the policy returned {actions!r}, which is not finite; the action is {space}")
        return np.ascontiguousarray(numbers, dtype=np.float64)

    def probabilities(self, states: bytes, rows: int) -> Optional[bytes]:
        n = getattr(self.views.action_space, "n", None)
        if n is None or self.views.action_space.shape != ():
            return None
        weights = self.weigh(self._observations(states, rows), rows)
        return None if weights is None else self._checked_weights(weights, rows).tobytes()

    def _checked_weights(self, weights: Any, rows: int) -> np.ndarray:
        checked = np.ascontiguousarray(weights, dtype=np.float64)
        space = self.views.action_space
        count = int(getattr(space, "n", 0))
        if checked.shape != (rows, count):
            raise ArgumentError(
                f"the policy returned probabilities of shape {checked.shape} for {rows} observations, expected "
                f"{(rows, count)}: the action is {space}"
            )
        wrong = ~np.isfinite(checked).all(axis=1) | (checked < 0).any(axis=1) | (checked.sum(axis=1) <= 0)
        if wrong.any():
            raise ArgumentError(
                f"the policy returned the probabilities {checked[wrong][0].tolist()}, expected numbers from 0 on that are "
                "not all 0"
            )
        return checked


class SB3(Adapter):
    """A model of Stable-Baselines3."""

    def __init__(self, views: Views, model: Any, normalize: Any = None) -> None:
        super().__init__(views)
        self.model, self.name = model, type(model).__name__
        self.normalize = normalize if normalize is not None else model.get_vec_normalize_env()
        if hasattr(model.policy, "lstm_actor"):
            raise ArgumentError(
                f"{self.name} has a memory, so what it does depends on more than the state that is explained; train an "
                "agent without one"
            )
        self._check(model.observation_space, views.observation_space)
        if not _alike(model.action_space, views.action_space, True):
            raise ArgumentError(
                f"the agent acts in {model.action_space}, the environment takes {views.action_space}: record the one it "
                "was trained in"
            )

    def _check(self, trained: Any, given: Any) -> None:
        env = self.model.get_env()
        while env is not None:
            if type(env).__name__ in ("VecFrameStack", "StackedObservations"):
                raise ArgumentError(_FRAMES)
            env = getattr(env, "venv", None)
        if _alike(trained, given, False):
            return
        ours, theirs = int(np.prod(given.shape or (1,))), int(np.prod(trained.shape or (1,)))
        if ours and theirs > ours and theirs % ours == 0:
            raise ArgumentError(f"{_FRAMES} (it observes {trained}, the environment {given})")
        raise ArgumentError(f"the agent observes {trained}, the environment gives {given}: record the one it was trained in")

    def _seen(self, observations: Any) -> Any:
        return self.normalize.normalize_obs(observations) if self.normalize is not None else observations

    def act(self, observations: Any, count: int) -> Any:
        _one_torch_thread()
        return self.model.predict(self._seen(observations), deterministic=True)[0]

    def weigh(self, observations: Any, count: int) -> Optional[np.ndarray]:
        policy = self.model.policy
        if not hasattr(policy, "get_distribution"):
            return None
        import torch

        _one_torch_thread()
        with torch.no_grad():
            tensor, _ = policy.obs_to_tensor(self._seen(observations))
            inner = getattr(policy.get_distribution(tensor), "distribution", None)
            weights = getattr(inner, "probs", None)
        return None if weights is None else weights.cpu().numpy()


def _alike(one: Any, other: Any, bounds: bool) -> bool:
    """Whether two spaces are the same, with their bounds or without."""
    if type(one) is not type(other):
        return False
    if hasattr(one, "spaces"):
        if not isinstance(one.spaces, dict):
            return len(one.spaces) == len(other.spaces) and all(map(_alike, one.spaces, other.spaces, [bounds] * len(one.spaces)))
        return list(one.spaces) == list(other.spaces) and all(
            _alike(part, other.spaces[key], bounds) for key, part in one.spaces.items()
        )
    if hasattr(one, "low") and not bounds:
        return bool(one.shape == other.shape)
    return bool(one == other)


_FRAMES = (
    "the agent was trained on stacked frames, so what it does depends on more than the state that is explained; "
    "train it on single observations"
)


class CleanRL(Adapter):
    """A torch module with `get_action_and_value`, as CleanRL's agents are."""

    name = "CleanRL"

    def __init__(self, views: Views, agent: Any) -> None:
        super().__init__(views)
        self.agent = agent

    def _head(self, observations: Any) -> tuple[Any, bool]:
        import torch

        _one_torch_thread()
        with torch.no_grad():
            tensor = torch.as_tensor(np.asarray(observations), dtype=torch.float32)
            if hasattr(self.agent, "actor_mean"):
                return self.agent.actor_mean(tensor), False
            if hasattr(self.agent, "actor"):
                return self.agent.actor(tensor), True
        raise ArgumentError("the agent has get_action_and_value, but neither actor (logits) nor actor_mean")

    def act(self, observations: Any, count: int) -> Any:
        head, is_discrete = self._head(observations)
        return (head.argmax(dim=1) if is_discrete else head).cpu().numpy()

    def weigh(self, observations: Any, count: int) -> Optional[np.ndarray]:
        head, is_discrete = self._head(observations)
        return head.softmax(dim=1).cpu().numpy() if is_discrete else None


class Onnx(Adapter):
    """An ONNX file, through onnxruntime: the first output is the action, or the logits of a discrete one."""

    name = "ONNX"

    def __init__(self, views: Views, file: str) -> None:
        super().__init__(views)
        try:
            import onnxruntime  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError as error:
            raise MissingError("ONNX files need onnxruntime: pip install 'becausal[onnx]'") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name
        first = self.session.get_inputs()[0].shape
        self.quick = not (first and first[0] == 1)

    def _first(self, observations: Any, count: int) -> np.ndarray:
        batch = np.asarray(observations, dtype=np.float32).reshape(count, -1)
        if self.quick:
            return np.asarray(self.session.run(None, {self.input: batch})[0])
        rows = [self.session.run(None, {self.input: row[None]})[0] for row in batch]
        return np.concatenate([np.asarray(row).reshape(1, -1) for row in rows])

    def act(self, observations: Any, count: int) -> Any:
        first = self._first(observations, count)
        n = getattr(self.views.action_space, "n", None)
        if n is not None and first.ndim == 2 and first.shape[1] == int(n) and int(n) > 1:
            return first.argmax(axis=1) + int(self.views.action_space.start)
        return first.reshape(count, -1) if n is None else first.reshape(count)


class Function(Adapter):
    """A function of one observation, or an object with `probabilities`."""

    def __init__(self, views: Views, function: Any, batch: bool = False) -> None:
        super().__init__(views)
        self.function, self.batch, self.quick = function, batch, batch
        self.name = getattr(function, "__name__", type(function).__name__)
        self.has_weights = hasattr(function, "probabilities")

    def act(self, observations: Any, count: int) -> Any:
        if not callable(self.function):
            weights = self._checked_weights(self.weigh(observations, count), count)
            return weights.argmax(axis=1) + int(getattr(self.views.action_space, "start", 0))
        if self.batch:
            return self.function(observations)
        pick = self.views.state.pick
        actions = [self._one(self.function(pick(observations, at))) for at in range(count)]
        try:
            return self.views.action.stack(actions)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise ArgumentError(f"the policy returned what is not an action of {self.views.action_space}: {error}") from error

    def _one(self, action: Any) -> Any:
        # Some functions return an action and something else, as `predict` of SB3 does.
        if isinstance(action, tuple) and not hasattr(self.views.action_space, "spaces"):
            action = action[0]
        if not hasattr(self.views.action_space, "spaces"):
            shape = np.shape(action)
            expected = self.views.action_space.shape
            if int(np.prod(shape)) != int(np.prod(expected)):
                raise ArgumentError(
                    f"the policy returned an action of shape {shape}, expected {expected}: "
                    f"the action is {self.views.action_space}"
                )
        return action

    def weigh(self, observations: Any, count: int) -> Optional[np.ndarray]:
        if not self.has_weights:
            return None
        if self.batch:
            return np.asarray(self.function.probabilities(observations))
        pick = self.views.state.pick
        return np.stack([np.asarray(self.function.probabilities(pick(observations, at))) for at in range(count)])


class OfRun(Adapter):
    """The policy of a becausal run."""

    name = "becausal"

    def __init__(self, views: Views, run: _becausal.Run) -> None:
        super().__init__(views)
        self.run = run

        def said(columns: Any) -> dict[str, list[str]]:
            return {safe_name(name): list(spec.get("labels", [])) for name, spec in columns}

        for role, view in (("state", views.state), ("action", views.action)):
            theirs = said((column["name"], column) for column in run.schema.columns if column["role"] == role)
            ours = said(view.variables)
            if list(theirs.items()) != list(ours.items()):
                raise ArgumentError(
                    f"the run that is to act has other {role} variables ({', '.join(theirs)}) than the environment "
                    f"({', '.join(ours)}), or other labels"
                )
        if not run.has_policy:
            raise MissingError("the run that is to act has no policy: give it one with becausal.open(path, policy=agent)")

    def modes(self, states: bytes, rows: int) -> bytes:
        return self.run._modes(states, rows)

    def modes_of(self, states: np.ndarray) -> np.ndarray:
        answer = self.run._modes(np.ascontiguousarray(states).tobytes(), len(states))
        return np.frombuffer(answer).reshape(len(states), -1)


class Batched:
    """A function of a whole batch of observations."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function


def adapter_of(policy: Any, views: Views, normalize: Any = None) -> Optional[Adapter]:
    """The adapter of whatever the user calls a policy; `None` for none, or `"random"`."""
    if policy is None or (isinstance(policy, str) and policy == "random"):
        return None
    if isinstance(policy, Adapter):
        return policy
    if isinstance(policy, Batched):
        return Function(views, policy.function, batch=True)
    if isinstance(policy, _becausal.Run):
        return OfRun(views, policy)
    if isinstance(policy, (str, os.PathLike)):
        return _from_file(Path(policy), views, normalize)
    if hasattr(policy, "predict") and hasattr(policy, "get_vec_normalize_env"):
        return SB3(views, policy, normalize)
    if hasattr(policy, "get_action_and_value"):
        return CleanRL(views, policy)
    if callable(policy) or hasattr(policy, "probabilities"):
        return Function(views, policy)
    raise ArgumentError(
        f"{policy!r} is not a policy: expected a function of an observation, an SB3 model, an object with "
        ".probabilities, the path of a .zip (SB3) or .onnx file, or a becausal run"
    )


def _from_file(path: Path, views: Views, normalize: Any) -> Adapter:
    if path.is_dir():
        return OfRun(views, _becausal.open(path, progress=False))
    if not path.exists():
        from ._errors import NotFoundError

        raise NotFoundError(f"{path}: there is no such file")
    if path.suffix == ".onnx":
        return Onnx(views, str(path))
    if path.suffix == ".zip":
        beside = sorted(path.parent.glob("*vec*normalize*"))
        if normalize is None and beside:
            warnings.warn(
                f"{path}: a .zip does not hold the VecNormalize that an agent was trained with, and {beside[0].name} is "
                "beside it: if it belongs to the agent, give it as `normalize`",
                stacklevel=2,
            )
        return SB3(views, load_sb3(path), normalize)
    raise ArgumentError(f"{path}: expected a name that ends in .zip (SB3) or .onnx, or the folder of a run")


def load_sb3(path: Path) -> Any:
    """Loads a model of SB3, whose file does not say which algorithm it is of. It is a pickle: loading runs code in it."""
    try:
        import stable_baselines3 as sb3  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise MissingError("SB3 models need stable-baselines3: pip install 'becausal[sb3]'") from error
    problems = []
    for algorithm in (sb3.PPO, sb3.A2C, sb3.DQN, sb3.SAC, sb3.TD3, sb3.DDPG):
        try:
            return algorithm.load(str(path), device="cpu")
        except Exception as error:
            problems.append(f"{algorithm.__name__}: {error}")
    raise ArgumentError(f"{path}: no algorithm of Stable-Baselines3 can load it:\n  " + "\n  ".join(problems))
