"""Environments that ship with Gymnasium: the names of their numbers, what they reward, and when they end.

Everything here is a default. `names`, `actions`, `reward` and `end` of `Schema.of` and `record` come before it.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence


class Known:
    """What is known about an environment."""

    def __init__(
        self,
        names: Optional[Sequence[str]] = None,
        action: Optional[str] = None,
        labels: Optional[Sequence[str]] = None,
        actions: Optional[Sequence[str]] = None,
        factors: Optional[Sequence[tuple[str, Sequence[str]]]] = None,
        reward: Optional[dict[str, str]] = None,
        end: Optional[str] = None,
        built_in: Optional[str] = None,
        outcomes: Optional[Callable[[float, bool, Any], list[float]]] = None,
    ) -> None:
        #: The numbers of an observation.
        self.names = names
        #: The name of a single action.
        self.action = action
        #: The labels of a discrete action.
        self.labels = labels
        #: The names of the numbers of a continuous action.
        self.actions = actions
        #: The parts of a discrete observation, the last one counting fastest, with their labels.
        self.factors = factors
        #: Reward terms, where they can be computed from what is observed.
        self.reward = reward
        #: When an episode ends, in the same way.
        self.end = end
        #: The built-in environment with the same variables.
        self.built_in = built_in
        #: The outcomes of the built-in schema, from reward, end and action.
        self.outcomes = outcomes


def _lander(fuel: Callable[[Any], float]) -> Callable[[float, bool, Any], list[float]]:
    def outcomes(reward: float, terminated: bool, action: Any) -> list[float]:
        return [fuel(action), float(terminated and reward == -100), float(terminated and reward == 100)]

    return outcomes


def _throttle(action: Any) -> float:
    main, side = float(action[0]), abs(float(action[1]))
    main = min(max(main, 0.0), 1.0) * 0.5 + 0.5 if main > 0.0 else 0.0
    side = min(max(side, 0.5), 1.0) if side > 0.5 else 0.0
    return main * 0.30 + side * 0.03


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


_ACROBOT_END = "-cos_1' - (cos_1' * cos_2' - sin_1' * sin_2') > 1"
_CAR_END = "position' >= 0.5 && velocity' >= 0"
_CAR_CONTINUOUS_END = "position' >= 0.45 && velocity' >= 0"
_LEG = ["hip_angle", "hip_velocity", "knee_angle", "knee_velocity", "contact"]
_CHEETAH = ["back_thigh", "back_shin", "back_foot", "front_thigh", "front_shin", "front_foot"]
_WALKER = ["right_thigh", "right_leg", "right_foot", "left_thigh", "left_leg", "left_foot"]
_HOPPER = ["thigh", "leg", "foot"]

_KNOWN: dict[str, Known] = {
    "CartPole-v1": Known(
        names=["position", "velocity", "angle", "angle_velocity"],
        action="push",
        labels=["left", "right"],
        built_in="CartPole-v1",
        outcomes=lambda reward, terminated, action: [],
    ),
    "Acrobot-v1": Known(
        names=["cos_1", "sin_1", "cos_2", "sin_2", "velocity_1", "velocity_2"],
        action="torque",
        labels=["negative", "none", "positive"],
        reward={"time": f"if({_ACROBOT_END}, 0, -1)"},
        end=_ACROBOT_END,
    ),
    "MountainCar-v0": Known(
        names=["position", "velocity"],
        action="push",
        labels=["left", "none", "right"],
        reward={"time": f"if({_CAR_END}, 0, -1)"},
        end=_CAR_END,
    ),
    "MountainCarContinuous-v0": Known(
        names=["position", "velocity"],
        actions=["push"],
        reward={"goal": f"if({_CAR_CONTINUOUS_END}, 100, 0)", "effort": "-0.1 * push * push"},
        end=_CAR_CONTINUOUS_END,
    ),
    "Pendulum-v1": Known(
        names=["cos_angle", "sin_angle", "angle_velocity"],
        actions=["torque"],
        reward={
            "upright": "-atan2(sin_angle, cos_angle) * atan2(sin_angle, cos_angle)",
            "slow": "-0.1 * angle_velocity * angle_velocity",
            "effort": "-0.001 * torque * torque",
        },
    ),
    "LunarLander-v3": Known(
        built_in="LunarLander-v3",
        outcomes=_lander(lambda action: (0.0, 0.03, 0.30, 0.03)[int(action[0])]),
    ),
    "LunarLanderContinuous-v3": Known(
        built_in="LunarLanderContinuous-v3", outcomes=_lander(_throttle)
    ),
    "BipedalWalker-v3": Known(
        names=["angle", "angle_velocity", "vx", "vy"]
        + [f"{part}_1" for part in _LEG]
        + [f"{part}_2" for part in _LEG]
        + [f"lidar_{ray}" for ray in range(10)],
        actions=["hip_1", "knee_1", "hip_2", "knee_2"],
    ),
    "InvertedPendulum-v5": Known(
        names=["position", "angle", "velocity", "angle_velocity"],
        actions=["force"],
        end="abs(angle') > 0.2",
    ),
    "InvertedDoublePendulum-v5": Known(
        names=["position", "sin_1", "sin_2", "cos_1", "cos_2", "velocity", "velocity_1", "velocity_2"]
        + ["constraint"],
        actions=["force"],
        end="0.6 * cos_1' + 0.6 * (cos_1' * cos_2' - sin_1' * sin_2') <= 1",
    ),
    "Hopper-v5": Known(
        names=["z", "torso"] + _HOPPER + ["vx", "vz", "v_torso"] + [f"v_{part}" for part in _HOPPER],
        actions=_HOPPER,
        end="z' <= 0.7 || abs(torso') >= 0.2",
    ),
    "Walker2d-v5": Known(
        names=["z", "torso"] + _WALKER + ["vx", "vz", "v_torso"] + [f"v_{part}" for part in _WALKER],
        actions=_WALKER,
        end="z' <= 0.8 || z' >= 2 || abs(torso') >= 1",
    ),
    "HalfCheetah-v5": Known(
        names=["z", "torso"] + _CHEETAH + ["vx", "vz", "v_torso"] + [f"v_{part}" for part in _CHEETAH],
        actions=_CHEETAH,
    ),
    "Swimmer-v5": Known(
        names=["angle", "rotor_1", "rotor_2", "vx", "vy", "v_angle", "v_rotor_1", "v_rotor_2"],
        actions=["rotor_1", "rotor_2"],
    ),
    "Reacher-v5": Known(
        names=["cos_1", "cos_2", "sin_1", "sin_2", "target_x", "target_y", "v_1", "v_2", "dx", "dy"],
        actions=["joint_1", "joint_2"],
    ),
    "Taxi-v3": Known(
        factors=[
            ("row", _numbers(5)),
            ("column", _numbers(5)),
            ("passenger", ["red", "green", "yellow", "blue", "in_taxi"]),
            ("destination", ["red", "green", "yellow", "blue"]),
        ],
        action="drive",
        labels=["south", "north", "east", "west", "pickup", "dropoff"],
    ),
    "FrozenLake-v1": Known(
        factors=[("row", _numbers(4)), ("column", _numbers(4))],
        action="go",
        labels=["left", "down", "right", "up"],
    ),
    "FrozenLake8x8-v1": Known(
        factors=[("row", _numbers(8)), ("column", _numbers(8))],
        action="go",
        labels=["left", "down", "right", "up"],
    ),
    "CliffWalking-v0": Known(
        factors=[("row", _numbers(4)), ("column", _numbers(12))],
        action="go",
        labels=["up", "right", "down", "left"],
    ),
    "Blackjack-v1": Known(
        names=["player_sum", "dealer_card", "usable_ace"], action="play", labels=["stick", "hit"]
    ),
}
_KNOWN["Taxi-v4"] = _KNOWN["Taxi-v3"]
_KNOWN["CliffWalking-v1"] = _KNOWN["CliffWalking-v0"]


def known(id: str) -> Known:
    """What is known about an environment, by its id; nothing for others."""
    if id.startswith("becausal/"):
        return _ours(id.removeprefix("becausal/"))
    return _KNOWN.get(id, Known())


def _ours(id: str) -> Known:
    from . import _becausal

    if id in _KNOWN:
        return _KNOWN[id]
    if _becausal.Schema.read(id).outcomes:
        return Known()
    return Known(built_in=id, outcomes=lambda reward, terminated, action: [])
