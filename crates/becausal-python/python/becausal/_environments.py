"""The built-in environments for Gymnasium: `gymnasium.make("becausal/LunarLander-v3")`."""

from __future__ import annotations

from typing import Any, Optional

import gymnasium
import numpy as np
from gymnasium import spaces

from . import _becausal


class BuiltInEnv(gymnasium.Env[np.ndarray, Any]):
    """A built-in environment. `clone` makes a copy that continues exactly as this one would."""

    metadata = {"render_modes": []}

    def __init__(self, id: str, render_mode: Optional[str] = None, **options: Any) -> None:
        # Gymnasium's own wrapper counts the steps.
        self._environment = _becausal.BuiltIn(id, {"max_episode_steps": 2**53} | options)
        self._shorten()
        self.render_mode = render_mode
        schema = self._environment.schema
        self.schema = schema
        states = [column for column in schema.columns if column["role"] == "state"]
        actions = [column for column in schema.columns if column["role"] == "action"]
        self.observation_space = _box(states)
        self.action_space: Any
        if len(actions) == 1 and actions[0]["labels"]:
            self.action_space = spaces.Discrete(len(actions[0]["labels"]))
        else:
            self.action_space = _box(actions)

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        chosen = seed if seed is not None else int(self.np_random.integers(2**63))
        return self._environment.reset(chosen), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return self._environment.step(action)

    def _shorten(self) -> None:
        # The compiled step itself: the method around it would cost a twentieth of a lander's step. A subclass may
        # have a `step` of its own, which this would hide.
        if type(self) is BuiltInEnv:
            self.step = self._environment.step  # type: ignore[method-assign]

    def clone(self) -> "BuiltInEnv":
        """A copy in the same state, with the same noise ahead of it."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._environment = self._environment.clone()
        copy._shorten()
        return copy

    def render(self) -> Any:
        """Nothing; `scene` draws some of them."""
        return None

    def scene(self) -> Optional[str]:
        """A drawing of the current state as SVG, where there is one."""
        return self._environment.scene()


def _box(columns: list[dict[str, Any]]) -> spaces.Box:
    lows, highs = [], []
    for column in columns:
        count = len(column["labels"])
        low, high = column["low"], column["high"]
        if column["kind"] == "boolean":
            low, high = 0.0, 1.0
        elif count:
            low, high = 0.0, count - 1.0
        lows.append(-np.inf if low is None else low)
        highs.append(np.inf if high is None else high)
    return spaces.Box(np.array(lows, dtype=np.float32), np.array(highs, dtype=np.float32), dtype=np.float32)
