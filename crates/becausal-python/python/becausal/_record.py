"""Recording an agent in an environment."""

from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence

import numpy as np

from . import _becausal
from ._errors import ArgumentError
from ._gymnasium import (
    Adapter,
    Reward,
    Session,
    Views,
    check_one_schema,
    views_of,
)
from ._makers import Maker
from ._policies import Adapter as Policy
from ._policies import adapter_of, torch_threads_restored
from ._progress import close, shown
from ._rows import Rows, log_of

#: Steps of the test whether a used environment can be used again.
_PROBE_STEPS = 30

#: Steps of the recorded episode that is replayed, at most.
_CHECKED_STEPS = 300


class _Episode:
    """An episode while it is recorded."""

    def __init__(self, number: int, seed: int, share: float, hold: float, root: int) -> None:
        self.number, self.seed, self.hold = number, seed, hold
        #: How probable it is that random actions begin where the agent could act: they are a share of all steps.
        self.begins = share / (share + (1.0 - share) * hold)
        self.random = np.random.default_rng([root, number])
        #: The random action that is held, and for how many more steps.
        self.held: Optional[np.ndarray] = None
        self.held_for = 0
        self.states: list[np.ndarray] = []
        self.actions: list[np.ndarray] = []
        self.rewards: list[float] = []
        self.own: list[bool] = []
        self.terminated = self.truncated = False

    def is_own(self) -> bool:
        """Whether the agent itself acts in the next step."""
        if self.held_for > 0:
            return False
        if self.random.random() >= self.begins:
            return True
        self.held = None
        self.held_for = 1 if self.hold == 1 else int(self.random.geometric(1.0 / self.hold))
        return False

    def random_action(self, views: Views, columns: Sequence[dict[str, Any]]) -> np.ndarray:
        """The random action of the next step."""
        if self.held is None:
            self.held = _random_action(views, columns, self.random)
        self.held_for -= 1
        return self.held


class _Slot:
    """An environment that plays one episode after the other."""

    def __init__(self, maker: Maker, fresh: bool) -> None:
        self.maker, self.fresh = maker, fresh
        self.env = maker()
        self.is_used = False

    def begin(self, seed: int) -> Any:
        if self.is_used and self.fresh:
            self.env.close()
            self.env = self.maker()
        self.is_used = True
        observation, _ = self.env.reset(seed=seed)
        return observation


def _random_action(views: Views, columns: Sequence[dict[str, Any]], random: np.random.Generator) -> np.ndarray:
    values = []
    for column in columns:
        if column["kind"] == "categorical":
            values.append(float(random.integers(len(column["labels"]))))
        elif column["kind"] == "boolean":
            values.append(float(random.integers(2)))
        elif column["low"] is None or column["high"] is None:
            raise ArgumentError(
                f"the action `{column['name']}` has no bounds to draw a random value from: {views.action_space}"
            )
        elif column["kind"] == "integer":
            values.append(float(random.integers(int(column["low"]), int(column["high"]) + 1)))
        else:
            values.append(float(random.uniform(column["low"], column["high"])))
    # As the environment takes it: an action in single precision is not that in double precision.
    return views.action.flat(views.action.build(np.array(values)))


def record(
    env: Any,
    policy: Any = None,
    *,
    rows: int = 20_000,
    seed: int = 0,
    explore: Sequence[float] = (0.1, 0.5, 1.0),
    hold: Sequence[float] = (1, 8),
    schema: Optional[_becausal.Schema] = None,
    names: Optional[Sequence[str]] = None,
    actions: Optional[Sequence[str]] = None,
    reward: Reward = None,
    end: Optional[str] = None,
    angles: Optional[Sequence[str]] = None,
    normalize: Any = None,
    envs: int = 8,
    progress: Any = None,
) -> _becausal.Log:
    """Records an agent in a Gymnasium environment.

    `env` is an id, an environment, or a function that makes one. `policy` is a function of an observation, an SB3
    model, an object with `.probabilities`, the path of a `.zip` or `.onnx` file, a becausal run, or `None` for
    random actions. A `.zip` of SB3 is a pickle: loading it runs code in it.

    A share of the actions is random, so that the log shows what other actions lead to. It differs by episode:
    `explore` has the shares, one episode after the other. `log.own` says in which rows the agent itself acted. A random
    action is held for some steps, on average as many as `hold` says, which changes whenever all shares had their turn:
    actions that change in every step seldom lead far.
    `names`, `actions`, `reward`, `end` and `angles` are those of `Schema.of`; `reward="learn"` learns reward and end
    even where becausal knows them or the rows follow a rule. `normalize` is a VecNormalize that the agent was trained with and does not know itself:
    a model that was loaded from a `.zip` never knows it.
    `envs` copies of the environment are stepped together.

    >>> log = becausal.record("MountainCar-v0", rows=500, seed=1)
    >>> log
    <Log of MountainCar-v0: 500 transitions in 8 episodes>
    >>> log.schema.states
    ['position', 'velocity']
    """
    for name, count in (("rows", rows), ("envs", envs)):
        if not isinstance(count, (int, float, np.number)) or not 1 <= count < np.inf or count != int(count):
            raise ArgumentError(f"`{name}` is {count!r}, expected a whole number, at least 1")
    rows, envs = int(rows), int(envs)
    if not explore or not all(0.0 <= share <= 1.0 for share in explore):
        raise ArgumentError(f"`explore` is {explore!r}, expected shares from 0 to 1")
    if not hold or not all(1.0 <= steps < np.inf for steps in hold):
        raise ArgumentError(f"`hold` is {hold!r}, expected numbers of steps from 1 on")
    _becausal.episode_seed(seed, 0)  # Refuses what is not a seed.
    check_one_schema(schema, names, actions, reward, end, angles)
    maker = Maker.of(env)
    views = Views(maker, names, actions, angles) if schema is None else views_of(maker, schema)
    agent = adapter_of(policy, views, normalize)
    columns = _action_columns(views)
    # One that a reset does not make as new may show it later than the test looks.
    for fresh in (False, True) if _repeats_when_used(maker, views, columns, seed) else (True,):
        heard = shown(progress)
        try:
            with torch_threads_restored():
                episodes = _play(maker, views, agent, columns, rows, seed, (explore, hold), envs, fresh, heard)
        finally:
            close(heard)
        log, outcomes = log_of(_rows(episodes), views, maker.id, schema, reward, end, _origin(maker, seed, agent))
        adapter = Adapter(maker, views, outcomes, log.schema)
        adapter.problem, has_diverged = _replay_problem(adapter, episodes)
        if not has_diverged:
            break
    notes = outcomes.notes + ([adapter.problem] if adapter.problem is not None else [])
    for note in notes:
        warnings.warn(note, stacklevel=2)
    notes += outcomes.rules
    own = np.array([own for episode in episodes for own in episode.own], dtype=bool)
    return log._with(adapter, agent, own, notes)


def _action_columns(views: Views) -> list[dict[str, Any]]:
    columns: list[dict[str, Any]] = []
    for name, spec in views.action.variables:
        columns.append({"name": name, "labels": [], "low": None, "high": None} | spec)
    return columns


def _repeats_when_used(maker: Maker, views: Views, columns: Sequence[dict[str, Any]], seed: int) -> bool:
    """Whether a used environment that is reset does what a fresh one does."""
    random = np.random.default_rng([seed, 2**31])
    try:
        taken = [_random_action(views, columns, random) for _ in range(_PROBE_STEPS)]
    except ArgumentError:
        return False

    def play(env: Any, seed: int) -> list[bytes]:
        observation, _ = env.reset(seed=seed)
        seen = [views.state.flat(observation).tobytes()]
        for action in taken:
            observation, _, terminated, truncated, _ = env.step(views.action.build(action))
            seen.append(views.state.flat(observation).tobytes())
            if terminated or truncated:
                break
        return seen

    used, new = maker(), maker()
    try:
        play(used, seed + 1)
        return play(used, seed) == play(new, seed)
    finally:
        used.close()
        new.close()


def _play(
    maker: Maker,
    views: Views,
    agent: Optional[Policy],
    columns: Sequence[dict[str, Any]],
    rows: int,
    seed: int,
    variety: tuple[Sequence[float], Sequence[float]],
    envs: int,
    fresh: bool,
    heard: Any,
) -> list[_Episode]:
    explore, hold = variety
    slots = [_Slot(maker, fresh) for _ in range(min(envs, rows))]
    episodes: list[_Episode] = []
    width = views.state.width

    def begin(slot: _Slot) -> tuple[_Episode, np.ndarray]:
        number = len(episodes)
        share = 1.0 if agent is None else float(explore[number % len(explore)])
        steps = float(hold[number // len(explore) % len(hold)])
        episode = _Episode(number, _becausal.episode_seed(seed, number), share, steps, seed)
        episodes.append(episode)
        state = views.state.flat(slot.begin(episode.seed))
        if not np.all(np.isfinite(state)):
            raise ArgumentError(f"{maker.id} observes {state.tolist()} after reset: expected finite numbers")
        episode.states.append(state)
        return episode, state

    current = [begin(slot) for slot in slots]
    done = 0
    reported = 0
    states = np.empty((len(slots), width))
    try:
        while done < rows:
            own = [episode.is_own() for episode, _ in current]
            chosen: Optional[np.ndarray] = None
            asking = [at for at, is_own in enumerate(own) if is_own]
            if agent is not None and asking:
                for row, at in enumerate(asking):
                    states[row] = current[at][1]
                chosen = agent.modes_of(states[: len(asking)])
            place = 0
            for at, slot in enumerate(slots):
                if done >= rows:
                    break
                episode, _ = current[at]
                if own[at] and chosen is not None:
                    action = chosen[place].copy()
                    place += 1
                else:
                    action = episode.random_action(views, columns)
                observation, paid, terminated, truncated, _ = slot.env.step(views.action.build(action))
                state = views.state.flat(observation)
                if not np.all(np.isfinite(state)):
                    raise ArgumentError(
                        f"{maker.id} observes {state.tolist()} at step {len(episode.rewards)} of episode "
                        f"{episode.number}: expected finite numbers"
                    )
                episode.states.append(state)
                episode.actions.append(action)
                episode.rewards.append(float(paid))
                episode.own.append(own[at])
                done += 1
                if terminated or truncated:
                    episode.terminated, episode.truncated = bool(terminated), bool(truncated)
                    if done < rows:
                        current[at] = begin(slot)
                else:
                    current[at] = (episode, state)
            if heard is not None and done - reported >= 200:
                heard("record", done, rows, "transitions", "")
                reported = done
    finally:
        for slot in slots:
            slot.env.close()
    return [episode for episode in episodes if episode.rewards]


def _rows(episodes: Sequence[_Episode]) -> Rows:
    lengths = [len(episode.rewards) for episode in episodes]
    last = np.cumsum(lengths) - 1
    terminated = np.zeros(sum(lengths), dtype=bool)
    truncated = np.zeros(sum(lengths), dtype=bool)
    terminated[last] = [episode.terminated for episode in episodes]
    truncated[last] = [not episode.terminated for episode in episodes]
    return Rows(
        states=np.concatenate([np.stack(episode.states[:-1]) for episode in episodes]),
        actions=np.concatenate([np.stack(episode.actions) for episode in episodes]),
        after=np.concatenate([np.stack(episode.states[1:]) for episode in episodes]),
        rewards=np.concatenate([np.array(episode.rewards, dtype=np.float64) for episode in episodes]),
        terminated=terminated,
        truncated=truncated,
        episodes=np.repeat(np.arange(len(episodes)), lengths),
    )


def _origin(maker: Maker, seed: int, agent: Optional[Policy]) -> dict[str, Any]:
    return {
        "environment": maker.origin,
        "options": {name: repr(value) for name, value in maker.options.items()} if maker.is_plain else {},
        "seed": seed,
        "policy": agent.name if agent is not None else "random",
    }


def _replay_problem(adapter: Adapter, episodes: Sequence[_Episode]) -> tuple[Optional[str], bool]:
    """Replays a recorded episode in a fresh environment: why it cannot be, in words, and whether it diverged."""
    # A late one, of some length: its environment was used before.
    episode = max(reversed(episodes), key=lambda one: min(len(one.rewards), _CHECKED_STEPS))
    try:
        problem = _divergence(adapter, episode)
        return problem, problem is not None
    except Exception as error:
        return (
            f"{adapter.maker.id} failed when recorded episode {episode.number} was played again in a fresh environment "
            f"({type(error).__name__}: {error}): episodes cannot be played again, and there is no audit"
        ), False


def _divergence(adapter: Adapter, episode: _Episode) -> Optional[str]:
    session = Session(adapter, episode.seed)
    for step, action in enumerate(episode.actions[:_CHECKED_STEPS]):
        if not np.array_equal(session.state, episode.states[step]):
            break
        reward, _, _ = session.take(action)
        if reward != episode.rewards[step] or not np.array_equal(session.state, episode.states[step + 1]):
            step += 1
            break
    else:
        return None
    return (
        f"{adapter.maker.id} does not repeat itself: episode {episode.number} diverged at step {step} "
        "when a fresh environment took the same actions from the same seed. It keeps randomness that "
        "reset(seed) does not set, so what would have happened cannot be tried in it: episodes cannot be "
        "played again, and there is no audit"
    )
