"""Gymnasium environments and agents in them."""

from __future__ import annotations

import copy
import json
import urllib.request
import warnings

import numpy as np
import pytest

import becausal

gymnasium = pytest.importorskip("gymnasium")
from gymnasium import spaces  # noqa: E402

from conftest import pump  # noqa: E402


class Corridor(gymnasium.Env):
    """A walk on a line: +1 at its end, where it stops."""

    def __init__(self, hidden: bool = False, reward: str = "end") -> None:
        self.observation_space = spaces.Box(-10.0, 10.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.hidden, self.paid = hidden, reward

    def _seen(self) -> np.ndarray:
        return np.array([self.place, self.wind], dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.random = np.random.default_rng() if self.hidden else self.np_random
        self.place, self.wind, self.steps = 0.0, 0.0, 0
        return self._seen(), {}

    def step(self, action):
        self.wind = float(self.random.normal()) * 0.1
        self.place += (1.0 if action == 1 else -1.0) * 0.5 + self.wind
        self.steps += 1
        over = bool(self.place > 3.0)
        paid = {"end": float(over), "constant": 1.0, "nothing": 0.0, "nan": float("nan")}[self.paid]
        return self._seen(), paid, over, self.steps >= 40, {}


class Spaces(gymnasium.Env):
    """Does nothing, in any spaces."""

    def __init__(self, observation, action) -> None:
        self.observation_space, self.action_space = copy.deepcopy((observation, action))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(1000)))
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.steps += 1
        return self.observation_space.sample(), float(self.steps), self.steps == 9, False, {}


@pytest.mark.parametrize(
    "id, states, actions",
    [
        ("CartPole-v1", ["position", "velocity", "angle", "angle_velocity"], ["push"]),
        ("Acrobot-v1", ["cos_1", "sin_1", "cos_2", "sin_2", "velocity_1", "velocity_2"], ["torque"]),
        ("MountainCar-v0", ["position", "velocity"], ["push"]),
        ("Pendulum-v1", ["cos_angle", "sin_angle", "angle_velocity"], ["torque"]),
        ("Taxi-v4", ["row", "column", "passenger", "destination"], ["drive"]),
        ("FrozenLake-v1", ["row", "column"], ["go"]),
        ("Blackjack-v1", ["player_sum", "dealer_card", "usable_ace"], ["play"]),
    ],
)
def test_known_environments_have_names(id, states, actions) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = becausal.Schema.of(id)
    assert schema.states == states and schema.actions == actions


@pytest.mark.parametrize("id", ["Acrobot-v1", "MountainCarContinuous-v0", "Pendulum-v1"])
def test_known_rewards_and_ends_are_those_of_the_environment(id) -> None:
    log = becausal.record(id, rows=3000)
    text = log.check()
    assert "disagrees" not in text
    assert "sum to the recorded reward in every row" in text


@pytest.mark.parametrize(
    "observation, action, states, actions",
    [
        (spaces.Discrete(5, start=2), spaces.Discrete(3, start=-1), ["observation"], ["action"]),
        (spaces.MultiDiscrete([3, 4]), spaces.MultiDiscrete([2, 2]), ["observation_0", "observation_1"], ["action_0", "action_1"]),
        (spaces.MultiBinary(3), spaces.MultiBinary(2), [f"observation_{i}" for i in range(3)], ["action_0", "action_1"]),
        (
            spaces.Dict({"speed": spaces.Box(-1, 1, (2,)), "gear": spaces.Discrete(3)}),
            spaces.Box(-2, 2, (1,), np.float32),
            ["gear", "speed_0", "speed_1"],
            ["action"],
        ),
        (
            spaces.Tuple((spaces.Discrete(3), spaces.Box(0, 1, (1,)))),
            spaces.Dict({"turn": spaces.Discrete(2), "push": spaces.Box(-1, 1, (1,))}),
            ["observation_0", "observation_1"],
            ["push", "turn"],
        ),
    ],
)  # fmt: skip
def test_spaces_become_variables_and_actions_go_back(observation, action, states, actions) -> None:
    log = becausal.record(lambda: Spaces(observation, action), rows=60)
    assert log.schema.states == states and log.schema.actions == actions
    assert log._adapters()[0].problem is None, "replayed with the same actions"


def test_pictures_and_other_spaces_are_refused_with_a_sentence_that_helps() -> None:
    pixels = spaces.Box(0, 255, (32, 32, 3), np.uint8)
    with pytest.raises(becausal.SpaceError, match="ObservationWrapper"):
        becausal.Schema.of(lambda: Spaces(pixels, spaces.Discrete(2)))
    with pytest.raises(becausal.SpaceError, match="Box, Discrete"):
        becausal.Schema.of(lambda: Spaces(spaces.Text(4), spaces.Discrete(2)))
    with pytest.raises(becausal.SpaceError, match="action"):
        becausal.Schema.of(lambda: Spaces(spaces.Discrete(2), spaces.Text(4)))


def test_names_and_labels_are_checked() -> None:
    schema = becausal.Schema.of(Corridor, names=["place", "wind"], actions=["back", "on"])
    assert schema.states == ["place", "wind"]
    with pytest.raises(ValueError, match="expected 2"):
        becausal.Schema.of(Corridor, names=["place"])
    with pytest.raises(ValueError, match="expected 2"):
        becausal.Schema.of(Corridor, actions=["on"])
    with pytest.raises(ValueError, match="'place' is the name of several variables"):
        becausal.Schema.of(Corridor, names=["place", "place"])
    with pytest.raises(ValueError, match="makes it"):
        becausal.record(Corridor(), rows=10)
    with pytest.raises(ValueError, match="neither"):
        becausal.record(3, rows=10)


def test_few_rewards_are_labels_and_a_constant_reward_is_about_the_end() -> None:
    right = lambda observation: 1  # noqa: E731
    log = becausal.record(Corridor, right, rows=2000, reward="learn")
    assert log.schema.outcomes == ["paid", "over"]
    paid = log.to_dict()["paid"]
    assert set(paid) == {"pays 0", "pays 1"}
    assert "sum to the recorded reward in every row" in log.check()
    constant = lambda: Corridor(reward="constant")  # noqa: E731
    log = becausal.record(constant, right, rows=2000, reward="learn")
    assert log.schema.outcomes == ["over"]
    assert log.schema.rewards == {"survival": "if(over, 0, 1.0)"}
    log = becausal.record(constant, right, rows=2000)
    assert log.schema.outcomes == []
    assert log.schema.rewards == {"survival": f"if({log.schema.end}, 0, 1.0)"}


def test_rewards_and_ends_can_be_given() -> None:
    log = becausal.record(
        Corridor, rows=500, names=["place", "wind"], reward={"goal": "if(place' > 3, 1, 0)"}, end="place' > 3"
    )
    assert log.schema.outcomes == []
    assert "sum to the recorded reward in every row" in log.check()


def test_hidden_randomness_is_noticed_and_said() -> None:
    log = becausal.record(lambda: Corridor(hidden=True), rows=600)
    run = becausal.fit(log, members=1, steps=50)
    with pytest.raises(becausal.ReplayError, match="does not repeat itself"):
        run.audit(states=3)
    assert run.why((0, 0)).sentence, "questions about the record are answered"


def test_recording_is_reproducible_and_says_who_acted() -> None:
    log = becausal.record("MountainCar-v0", pump, rows=1200, seed=5)
    again = becausal.record("MountainCar-v0", pump, rows=1200, seed=5)
    for name, values in log.to_dict().items():
        assert values.tolist() == again.to_dict()[name].tolist(), name
    assert log.own.dtype == bool and len(log.own) == 1200
    data = log.to_dict()
    should = np.where(data["velocity"] >= 0, "right", "left")
    assert (data["push"][log.own] == should[log.own]).all()
    shares = [log.own[data["episode"] == episode].mean() for episode in range(3)]
    assert shares[0] > 0.8 and 0.3 < shares[1] < 0.7 and shares[2] == 0.0
    assert log.origin["environment"] == "gym:MountainCar-v0" and log.origin["seed"] == 5


def test_an_agent_is_explained_and_audited_in_its_own_environment(car) -> None:
    episode = car.play(seed=3)
    assert len(episode) > 30
    moment = episode.at(10)
    taken = moment.action["push"]
    other = "left" if taken == "right" else "right"
    assert taken in car.why(moment).sentence
    assert "not" in car.why_not(moment, other).question
    audit = car.audit(states=8, horizon=3)
    assert audit.cases > 8 and audit.precision is not None
    assert car.audit(states=4, horizon=2, policy="random").cases > 0
    with pytest.raises(ValueError, match="expected \"random\""):
        car.audit(policy="mine")


def test_other_actions_are_tried_in_copies_of_its_environment(car) -> None:
    tried = car.try_others(states=200, seed=1, progress=False)
    assert tried.path is None
    with pytest.raises(ValueError, match="`states` is 3, expected at least 24"):
        car.try_others(states=3)
    audit = tried.audit(states=8, horizon=3)
    # The first run still has its own model.
    assert audit.cases > 8 and audit.json != car.audit(states=8, horizon=3).json
    assert car.try_others(states=200, seed=1).audit(states=8, horizon=3).json == audit.json


def test_another_action_is_not_predicted_but_tried_where_the_moment_is_found_again(car) -> None:
    episode = car.play(seed=3)
    moment = episode.at(10)
    labels = {"left": 0, "none": 1, "right": 2}
    other = "left" if moment.action["push"] == "right" else "right"
    answer = car.why_not(moment, other, horizon=4)
    assert "How sure: certain. The other course was tried" in answer.text
    env = gymnasium.make("MountainCar-v0")
    env.reset(seed=3)
    for step in range(10):
        env.step(labels[episode.at(step).action["push"]])
    observation, *_ = env.step(labels[other])
    there = json.loads(answer.json)["counterfactual"]["trajectory"][0]["next"]
    assert (there["position"], there["velocity"]) == tuple(float(value) for value in observation)
    alone = car.why_not(moment, other, horizon=4, model_only=True)
    assert "was tried" not in alone.text and json.loads(alone.json)["certainty"]["tried"] is False


def test_a_run_is_opened_with_its_environment_and_another_agent(car, tmp_path) -> None:
    car.save(tmp_path / "run")
    again = becausal.open(tmp_path / "run", policy=pump)
    assert again.play(seed=3).reward == car.play(seed=3).reward
    assert again.has_environment and again.has_policy
    alone = becausal.open(tmp_path / "run")
    assert alone.has_environment and not alone.has_policy
    # A run can act, too.
    log = becausal.record("MountainCar-v0", again, rows=300, explore=[0.0])
    data = log.to_dict()
    assert (data["push"] == np.where(data["velocity"] >= 0, "right", "left")).all()


@pytest.mark.parametrize(
    "policy, words",
    [
        (lambda observation: np.zeros(3), "shape (3,)"),
        (lambda observation: None, "the policy returned"),
        (lambda observation: float("nan"), "nan is not a whole number"),
        (lambda observation: 3, "3 is not a whole number from 0 to 2"),
        (lambda observation: "left", "is not a number"),
        (becausal.batched(lambda observations: np.zeros((len(observations), 4))), "the policy returned"),
        (3, "is not a policy"),
        ("nothing.zip", "no such file"),
    ],
)
def test_policies_that_return_nonsense_are_refused(policy, words) -> None:
    with pytest.raises(Exception) as raised:
        becausal.record("MountainCar-v0", policy, rows=100, explore=[0.0])
    assert isinstance(raised.value, becausal.Error)
    assert words in str(raised.value)


def test_what_an_agent_raises_reaches_the_caller(car) -> None:
    class Tired(Exception):
        pass

    calls = []

    def policy(observation):
        calls.append(1)
        if len(calls) > 30:
            raise Tired("after 30 calls")
        return 0

    with pytest.raises(Tired):
        becausal.record("MountainCar-v0", policy, rows=200, explore=[0.0])
    tired = becausal.fit(becausal.record("MountainCar-v0", lambda o: 0, rows=300), members=1, steps=20)
    from becausal._gymnasium import Maker, Views
    from becausal._policies import adapter_of

    views = Views(Maker.of("MountainCar-v0"))
    calls.clear()
    tired = tired._with(tired_environment(), adapter_of(policy, views))
    with pytest.raises(Tired):
        tired.play(0)
    with pytest.raises(Tired):
        tired.audit(states=20)
    calls.clear()
    assert tired.why((0, 0), horizon=1).sentence, "it can be asked again"


def test_threads_may_ask_about_one_agent(car) -> None:
    import threading

    moment = car.play(seed=3).at(10)
    expected = car.why(moment).text
    answers: list[str] = []
    work = lambda: answers.extend(car.why(moment).text for _ in range(10))  # noqa: E731
    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert answers == [expected] * 40


def tired_environment():
    return becausal.record("MountainCar-v0", rows=200)._adapters()[0]


def test_what_an_environment_raises_reaches_the_caller() -> None:
    class Broken(Corridor):
        def step(self, action):
            if self.steps == 20 and action == 1:
                raise RuntimeError("the motor is broken")
            return super().step(action)

    with pytest.raises(RuntimeError, match="the motor is broken"):
        becausal.record(Broken, rows=1000)
    with pytest.raises(ValueError, match="is nan, expected a finite number"):
        becausal.record(lambda: Corridor(reward="nan"), rows=100)


def test_policies_with_probabilities_act_and_tell_them() -> None:
    class Softly:
        def probabilities(self, observation):
            return np.array([0.2, 0.0, 0.8])

    log = becausal.record("MountainCar-v0", Softly(), rows=300, explore=[0.0])
    assert set(log.to_dict()["push"]) == {"right"}, "the most likely one"
    weights = np.frombuffer(log._adapters()[1].probabilities(np.zeros((2, 2)).tobytes(), 2))
    assert weights.tolist() == [0.2, 0.0, 0.8] * 2


def test_episodes_of_gymnasium_are_read() -> None:
    env = gymnasium.make("CartPole-v1")
    episodes = []
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        episode = {"observations": [observation], "actions": [], "rewards": [], "terminations": [], "truncations": []}
        over = False
        while not over:
            action = int(seed + len(episode["actions"])) % 2
            observation, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            episode["observations"].append(observation)
            for name, value in zip(["actions", "rewards", "terminations", "truncations"], [action, reward, terminated, truncated]):
                episode[name].append(value)
        episodes.append(episode)
    log = becausal.read(episodes, env="CartPole-v1")
    assert log.episodes == 3 and len(log) == sum(len(e["rewards"]) for e in episodes)
    assert log.schema == becausal.Schema.read("CartPole-v1")
    run = becausal.fit(becausal.read(episodes, env="CartPole-v1", policy=lambda observation: 0), members=1, steps=20)
    assert run.audit(states=3, horizon=2).cases == 3, "tried in the environment"
    with pytest.raises(ValueError, match="give `env`"):
        becausal.read(episodes)
    episodes[1]["observations"].pop()
    with pytest.raises(becausal.DataError, match="episode 1"):
        becausal.read(episodes, env="CartPole-v1")


@pytest.mark.parametrize(
    "id", ["CartPole-v1", "LunarLander-v3", "LunarLanderContinuous-v3", "BuildMarine-v0", "AimTest-v0", "Vacuum-v0"]
)
def test_our_environments_pass_the_check_of_gymnasium_and_can_be_cloned(id) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(f"becausal/{id}")
        check_env(env.unwrapped, skip_render_check=True)
        env.reset(seed=1)
        env.action_space.seed(0)
        for _ in range(5):
            env.step(env.action_space.sample())
        copy = env.unwrapped.clone()
        action = env.action_space.sample()
        ours, theirs = env.unwrapped.step(action), copy.step(action)
    assert np.array_equal(ours[0], theirs[0]) and ours[1:4] == theirs[1:4]


def test_a_subclass_of_our_environments_keeps_its_own_step() -> None:
    from becausal._environments import BuiltInEnv

    class Counting(BuiltInEnv):
        steps = 0

        def step(self, action):
            self.steps += 1
            return super().step(action)

    env = Counting("CartPole-v1")
    env.reset(seed=1)
    env.step(0)
    copy = env.clone()
    copy.step(0)
    assert (env.steps, copy.steps) == (1, 2)


def test_our_environments_say_that_they_need_a_reset_and_keep_actions_within_bounds() -> None:
    from gymnasium.error import ResetNeeded

    env = gymnasium.make("becausal/LunarLanderContinuous-v3", disable_env_checker=True)
    with pytest.raises(ResetNeeded, match="before calling env.reset"):
        env.step(np.zeros(2))
    env.reset(seed=1)
    copy = env.unwrapped.clone()
    seen, reward, _, _, info = env.step(np.array([7.0, -3.0]))
    assert seen.dtype == np.float32 and seen.flags.writeable and set(info) == {"fuel", "crash", "rest"}
    assert reward == copy.step(np.array([1.0, -1.0]))[1], "beyond the bounds is at the bounds"
    with pytest.raises(ValueError, match="an action of 3 numbers, expected 2"):
        env.step(np.zeros(3))
    with pytest.raises(ValueError, match="NaN"):
        env.step(np.array([np.nan, 0.0]))
    with pytest.raises(TypeError):
        env.step("left")
    ours = gymnasium.make("becausal/LunarLander-v3")
    ours.reset(seed=0)
    ours.step(np.array(2))
    with pytest.raises(ValueError, match="9 is not the index of a label"):
        ours.unwrapped.step(9)


def test_our_cart_pole_is_that_of_gymnasium() -> None:
    ours, theirs = gymnasium.make("becausal/CartPole-v1"), gymnasium.make("CartPole-v1")
    assert np.array_equal(ours.reset(seed=3)[0], theirs.reset(seed=3)[0])
    for step in range(20):
        a, b = ours.step(step % 2), theirs.step(step % 2)
        assert np.array_equal(a[0], b[0]) and a[1:4] == b[1:4]
        if a[2]:
            break


def test_a_run_acts_in_an_audit(car) -> None:
    log = becausal.record("MountainCar-v0", car, rows=600)
    run = becausal.fit(log, members=1, steps=50)
    assert run.audit(states=20, horizon=3).cases > 20
    with pytest.raises(ValueError, match="other state variables"):
        becausal.record("CartPole-v1", car, rows=10)
    alone = becausal.fit(becausal.record("MountainCar-v0", rows=200), members=1, steps=20)
    with pytest.raises(becausal.MissingError, match="no policy"):
        becausal.record("MountainCar-v0", alone, rows=10)


def test_a_call_that_is_stopped_does_not_falsify_another() -> None:
    import threading
    import time

    def slow(observation):
        time.sleep(0.0005)
        return 2 if observation[1] >= 0 else 0

    run = becausal.fit(becausal.record("MountainCar-v0", pump, rows=400), members=1, steps=20)
    run = run._with(tired_environment(), adapter(slow))
    moment = run.play(seed=3).at(30)
    expected = run.why(moment, horizon=20).json
    seen: list[str] = []
    refused: list[str] = []
    is_over = threading.Event()

    def play() -> None:
        while not is_over.is_set():
            try:
                seen.append(run.why(moment, horizon=20).json)
            except becausal.Error as error:
                refused.append(str(error))

    def enough(*told):
        raise KeyError("enough")

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    for _ in range(20):
        with pytest.raises(KeyError):
            run.audit(states=200, progress=enough)
    is_over.set()
    thread.join(timeout=60)
    assert set(seen) <= {expected}
    assert all("another call on this run" in words or "stopped" in words for words in refused)


def adapter(policy):
    from becausal._gymnasium import Maker, Views
    from becausal._policies import adapter_of

    return adapter_of(policy, Views(Maker.of("MountainCar-v0")))


def test_a_given_schema_is_what_is_written() -> None:
    schema = becausal.Schema.of("FrozenLake-v1")
    log = becausal.record("FrozenLake-v1", schema=schema, rows=2000)
    assert log.schema == schema
    data = log.to_dict()
    assert (data["paid"] == data["reward"]).all() and data["reward"].max() == 1
    named = becausal.Schema.of(Corridor, names=["place", "wind"], actions=["back", "on"])
    assert becausal.record(Corridor, schema=named, rows=100).schema == named
    with pytest.raises(ValueError, match="one or the other"):
        becausal.record(Corridor, schema=named, rows=100, names=["place", "wind"])
    with pytest.raises(ValueError, match="expected 3: the action"):
        becausal.record("MountainCar-v0", schema=named, rows=100)


class Mirrored(gymnasium.ObservationWrapper, gymnasium.utils.RecordConstructorArgs):
    def __init__(self, env):
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        super().__init__(env)

    def observation(self, observation):
        return -observation


def test_only_plain_environments_are_made_again(tmp_path) -> None:
    made = {
        "gym:MountainCar-v0": ["MountainCar-v0", gymnasium.make("MountainCar-v0", render_mode="rgb_array")],
        "made:MountainCar-v0": [
            lambda: gymnasium.make("MountainCar-v0"),
            gymnasium.make("MountainCar-v0", max_episode_steps=50),
            Mirrored(gymnasium.make("MountainCar-v0")),
        ],
    }
    for origin, envs in made.items():
        for env in envs:
            assert becausal.record(env, rows=60).origin["environment"] == origin
    wrapped = becausal.record(made["made:MountainCar-v0"][2], rows=300)
    assert wrapped.schema.states == ["observation_0", "observation_1"], "the usual names are not those of a wrapped one"
    becausal.fit(wrapped, members=1, steps=20).save(tmp_path / "run")
    run = becausal.open(tmp_path / "run")
    assert not run.has_environment
    with pytest.raises(becausal.MissingError, match="`env`"):
        becausal.open(tmp_path / "run", policy=pump)
    assert becausal.open(tmp_path / "run", env=made["made:MountainCar-v0"][2]).audit(states=3).cases


def test_a_run_opens_without_an_environment_that_is_gone(tmp_path) -> None:
    gymnasium.register("Gone-v0", entry_point=Corridor)
    becausal.fit(becausal.record("Gone-v0", rows=200), members=1, steps=20).save(tmp_path / "run")
    del gymnasium.registry["Gone-v0"]
    with pytest.warns(UserWarning, match="Gone"):
        run = becausal.open(tmp_path / "run")
    assert not run.has_environment and run.why((0, 0)).sentence
    with pytest.raises(becausal.MissingError, match="Gone"):
        becausal.open(tmp_path / "run", policy=lambda observation: 0)


def test_taxi_with_a_name_is_opened(tmp_path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        becausal.fit(becausal.record("Taxi-v4", rows=400, names=["cell"]), members=1, steps=10).save(tmp_path / "run")
        assert becausal.open(tmp_path / "run").has_environment


def test_known_rewards_are_checked() -> None:
    with pytest.warns(UserWarning, match="do not hold here"):
        log = becausal.record(gymnasium.make("CartPole-v1", sutton_barto_reward=True), rows=300)
    assert log.schema.outcomes == ["paid", "over"] and log.notes
    car = becausal.record("MountainCar-v0", pump, rows=3000, explore=[0.1])
    ends = int(car.to_dict()["terminated"].sum())
    assert ends > 0 and not car.notes and list(car.schema.rewards) == ["time"]
    assert f"recorded reward in {ends} of" in car.check(), "it pays its last step, too"
    with pytest.warns(UserWarning, match="no reward was paid"):
        becausal.record(lambda: Corridor(reward="nothing"), rows=400)


def test_a_failing_replay_does_not_lose_the_recording() -> None:
    made = []

    class Counted(Corridor):
        def __init__(self) -> None:
            super().__init__()
            made.append(1)
            if len(made) > 12:
                raise RuntimeError("no more licences")

    with pytest.warns(UserWarning, match="no more licences"):
        log = becausal.record(Counted, rows=60)
    assert len(log) == 60 and "no more licences" in log.notes[-1]


@pytest.mark.parametrize("weights", [[0.5, 0.5], [-1, 1, 1], [0, 0, 0], [float("nan"), 1, 1]])
def test_probabilities_are_checked(weights) -> None:
    class Wrong:
        def probabilities(self, observation):
            return weights

    with pytest.raises(ValueError, match="the policy returned (the )?probabilities"):
        becausal.record("MountainCar-v0", Wrong(), rows=20, explore=[0.0])


def test_an_adapter_that_answers_too_little_has_failed(car) -> None:
    class Short:
        quick = True

        def modes(self, states, rows):
            return b""

        def probabilities(self, states, rows):
            return np.ones(2 * rows).tobytes()

    with pytest.raises(ValueError, match="0 numbers for 1 states"):
        car._with(None, Short()).play(0)
    with pytest.raises(ValueError, match="the environment has the variables"):
        car._with(becausal.record("CartPole-v1", rows=20)._adapters()[0])


def test_values_of_several_categories_are_checked() -> None:
    env = lambda: Spaces(spaces.MultiBinary(2), spaces.MultiDiscrete([3, 3]))  # noqa: E731
    with pytest.raises(ValueError, match="-1 for action_1 is not a whole number from 0 to 2"):
        becausal.record(env, lambda observation: np.array([0, -1]), rows=20, explore=[0.0])


@pytest.mark.parametrize(
    "returned, words",
    [
        ((1, 0.5), "is not a dict with pump, valve"),
        (None, "is not a dict with pump, valve"),
        (np.zeros(2), "is not a dict with pump, valve"),
        ({"pump": 1}, "lacks valve"),
        ({"pump": 1, "valve": np.zeros(3)}, "the policy returned"),
    ],
)
def test_actions_of_several_parts_are_checked(returned, words) -> None:
    parts = spaces.Dict({"pump": spaces.Discrete(3), "valve": spaces.Box(0.0, 1.0, (1,))})
    env = lambda: Spaces(spaces.MultiBinary(2), parts)  # noqa: E731
    with pytest.raises(ValueError) as raised:
        becausal.record(env, lambda observation: returned, rows=20, explore=[0.0])
    assert isinstance(raised.value, becausal.Error)
    assert words in str(raised.value)


def test_seeds_and_ids() -> None:
    with pytest.raises(ValueError, match="the seed is -1"):
        becausal.record("MountainCar-v0", rows=10, seed=-1)
    assert becausal.Schema.of("gymnasium.envs:MountainCar-v0").states == ["position", "velocity"]
    with pytest.raises(ValueError, match="no_such_module"):
        becausal.Schema.of("no_such_module:MountainCar-v0")
    from becausal._gymnasium import Maker

    env = gymnasium.make("MountainCar-v0")
    env.unwrapped.spec.kwargs["render_mode"] = "human"
    assert env.spec.kwargs["render_mode"] == "human" and Maker.of(env)().render_mode is None


def test_looking_for_gymnasium_does_not_consume_the_hook() -> None:
    import subprocess
    import sys

    code = (
        "import becausal, importlib.util\n"
        "assert importlib.util.find_spec('gymnasium')\n"
        "import gymnasium\n"
        "assert 'becausal/CartPole-v1' in gymnasium.registry\n"
        "assert type(gymnasium.__spec__.loader).__module__ != 'becausal._registry'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_own_rows_are_read_again() -> None:
    log = becausal.record("MountainCar-v0", pump, rows=300)
    again = becausal.read(log.to_dict(), schema=log.schema)
    assert (again.own == log.own).all()
    with pytest.raises(ValueError, match="`env` is for episodes"):
        becausal.read(log.to_dict(), schema=log.schema, env="MountainCar-v0")


def test_vector_environments_are_recorded_as_the_ones_they_are_made_of() -> None:
    vector = gymnasium.vector
    expected = becausal.record("MountainCar-v0", rows=300).to_dict()
    for env in (
        gymnasium.make_vec("MountainCar-v0", num_envs=2, vectorization_mode="sync"),
        vector.SyncVectorEnv([lambda: gymnasium.make("MountainCar-v0")] * 2),
        gymnasium.wrappers.vector.RecordEpisodeStatistics(gymnasium.make_vec("MountainCar-v0", num_envs=2)),
    ):
        log = becausal.record(env, rows=300)
        assert log.origin["environment"] == "gym:MountainCar-v0"
        for name, values in log.to_dict().items():
            assert values.tolist() == expected[name].tolist(), name
        env.close()
    cart = gymnasium.make_vec("CartPole-v1", num_envs=2)
    assert becausal.record(cart, rows=50).origin["environment"] == "gym:CartPole-v1"
    made = vector.SyncVectorEnv([lambda: Corridor()] * 2)
    assert len(becausal.record(made, rows=50)) == 50
    scaled = gymnasium.wrappers.vector.NormalizeObservation(cart)
    with pytest.raises(ValueError, match="NormalizeObservation changes what its environments"):
        becausal.record(scaled, rows=50)


def test_the_agents_side_is_told_where_there_is_something_to_tell(car, run) -> None:
    choice = car.why(car.play(seed=3).at(10)).choice
    assert choice is None or "push" in choice
    assert run.why((26, 20)).choice is None, "nobody knows the policy of the greenhouse"

    class Torn:
        def probabilities(self, observation):
            return [0.2, 0.1, 0.7]

    torn = becausal.fit(becausal.record("MountainCar-v0", Torn(), rows=400), members=1, steps=20)
    answer = torn.why((0, 1))
    assert "%" in answer.choice and answer.choice in answer.text and "push" in answer.choice
    assert answer.choice.split("\n")[0] in answer._repr_html_()


def test_an_agent_that_fails_is_told_in_the_viewer_and_asked_again() -> None:
    fails = False

    def walker(observation: np.ndarray) -> int:
        if fails:
            raise RuntimeError("no legs")
        return 1

    run = becausal.fit(becausal.record(Corridor, walker, rows=400), members=1, steps=20)
    view = run.view(open=False)

    def asked(seed: int) -> dict:
        body = json.dumps({"place": {"seed": seed}, "from": 0, "count": 5}).encode()
        headers = {"Content-Type": "application/json; charset=utf-8"}
        request = urllib.request.Request(f"{view.address}page/episode", body, headers)
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    assert asked(1)["steps"] > 0
    fails = True
    assert "no legs" in asked(2)["error"]["message"]
    fails = False
    assert asked(2)["steps"] > 0, "nothing that nobody chose is kept"
    view.stop()


def test_random_actions_are_held_and_stay_a_share_of_the_steps() -> None:
    def first(observation) -> int:
        return 0

    log = becausal.record("MountainCar-v0", first, rows=8000, explore=[0.5], hold=[10], seed=4)
    assert abs(float(log.own.mean()) - 0.5) < 0.06
    recorded = log.to_dict()
    # A new random action begins in one of ten steps, and hardly ever right after another one.
    both = ~log.own[:-1] & ~log.own[1:] & (recorded["episode"][:-1] == recorded["episode"][1:])
    same = recorded["push"][:-1] == recorded["push"][1:]
    assert float(same[both].mean()) > 0.95
    begun = log.own[:-1] & ~log.own[1:]
    assert 0.08 < float(begun.sum() / (~log.own).sum()) < 0.12
    again = becausal.record("MountainCar-v0", first, rows=8000, explore=[0.5], hold=[10], seed=4)
    assert np.array_equal(again.to_dict()["push"], recorded["push"])
    with pytest.raises(becausal.ArgumentError, match="hold"):
        becausal.record("MountainCar-v0", rows=10, hold=[0])
