"""Agents and datasets of other libraries. `scripts/check-python.sh` installs them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import becausal

gymnasium = pytest.importorskip("gymnasium")
sb3 = pytest.importorskip("stable_baselines3")
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def cart() -> "sb3.PPO":
    torch.set_num_threads(1)
    return sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=256, seed=0).learn(1024)


def test_the_lines_of_the_readme(tmp_path) -> None:
    pytest.importorskip("Box2D")
    agent = sb3.PPO("MlpPolicy", "LunarLander-v3", n_steps=512, seed=0).learn(1024)
    log = becausal.record("LunarLander-v3", policy=agent, rows=1500, seed=0)
    run = becausal.fit(log, members=1, steps=100)
    moment = run.play(seed=3).at(40)
    assert "step 40" in run.why(moment).question
    other = "main" if moment.action["engine"] != "main" else "none"
    assert f"not engine = {other}" in run.why_not(moment, other).question
    assert run.audit(states=4, horizon=3).cases == 12
    assert log.schema == becausal.Schema.read("LunarLander-v3") and not log.notes
    assert len(becausal.record("LunarLander-v3", policy=run, rows=50)) == 50
    run.save(tmp_path / "lander")
    assert becausal.open(tmp_path / "lander", policy=agent).play(seed=3).reward == run.play(seed=3).reward
    assert becausal.Schema.of(gymnasium.make("LunarLander-v3", continuous=True)).actions == ["action_0", "action_1"]
    run.report(tmp_path / "lander.html", states=2, steps=2)
    assert (tmp_path / "lander.html").stat().st_size > 10_000


def test_an_sb3_agent_acts_as_it_does_itself(cart) -> None:
    log = becausal.record("CartPole-v1", cart, rows=600, explore=[0.0])
    data = log.to_dict()
    seen = np.stack([data[name] for name in log.schema.states], axis=1).astype(np.float32)
    expected = np.array(["left", "right"])[cart.predict(seen, deterministic=True)[0]]
    # A batch may be rounded otherwise than a single state; the actions are the same all but always.
    assert (data["push"] == expected).mean() > 0.99
    adapter = log._adapters()[1]
    weights = adapter.weigh(seen[:5], 5)
    assert weights.shape == (5, 2) and np.allclose(weights.sum(axis=1), 1.0)


def test_audits_with_an_sb3_agent_are_the_same_each_time(cart) -> None:
    run = becausal.fit(becausal.record("CartPole-v1", cart, rows=1000), members=1, steps=100)
    first, second = (run.audit(states=10, horizon=3).json for _ in range(2))
    assert first == second


def test_files_of_agents_are_loaded(cart, tmp_path) -> None:
    cart.save(tmp_path / "agent.zip")
    log = becausal.record("CartPole-v1", tmp_path / "agent.zip", rows=100)
    assert log.origin["policy"] == "PPO"
    (tmp_path / "broken.zip").write_bytes(b"no zip")
    with pytest.raises(ValueError, match="no algorithm"):
        becausal.record("CartPole-v1", tmp_path / "broken.zip", rows=100)


def test_continuous_agents_and_replay_buffers() -> None:
    agent = sb3.SAC("MlpPolicy", "Pendulum-v1", learning_starts=50, seed=0).learn(450)
    log = becausal.record("Pendulum-v1", agent, rows=400)
    torque = log.to_dict()["torque"]
    assert torque.min() >= -2 and torque.max() <= 2
    buffer = becausal.read(agent.replay_buffer, env="Pendulum-v1")
    assert len(buffer) == 450 and buffer.episodes == 3
    assert "sum to the recorded reward in every row" in buffer.check()


def test_rollout_buffers(cart) -> None:
    log = becausal.read(cart.rollout_buffer, env="CartPole-v1")
    assert 200 < len(log) < 256
    data = log.to_dict()
    assert set(data["push"]) <= {"left", "right"}
    assert "nor whether it was the end" in log.notes[-1]


def test_what_an_agent_was_trained_with_is_respected() -> None:
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

    normal = VecNormalize(make_vec_env("CartPole-v1", n_envs=1, seed=0))
    agent = sb3.PPO("MlpPolicy", normal, n_steps=128, seed=0).learn(256)
    log = becausal.record("CartPole-v1", agent, rows=200, explore=[0.0])
    data = log.to_dict()
    seen = np.stack([data[name] for name in log.schema.states], axis=1).astype(np.float32)
    normal.training = False
    expected = np.array(["left", "right"])[agent.predict(normal.normalize_obs(seen), deterministic=True)[0]]
    assert (data["push"] == expected).mean() > 0.99
    stacked = VecFrameStack(make_vec_env("CartPole-v1", n_envs=1), 4)
    agent = sb3.PPO("MlpPolicy", stacked, n_steps=64)
    with pytest.raises(ValueError, match="stacked frames"):
        becausal.record("CartPole-v1", agent, rows=100)
    other = sb3.PPO("MlpPolicy", "MountainCar-v0", n_steps=64)
    with pytest.raises(ValueError, match="the agent observes"):
        becausal.record("CartPole-v1", other, rows=100)


def test_cleanrl_agents() -> None:
    class Agent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.actor = torch.nn.Linear(4, 2)

        def get_action_and_value(self, x):
            raise AssertionError("samples")

    log = becausal.record("CartPole-v1", Agent(), rows=100)
    assert log.origin["policy"] == "CleanRL"


def test_onnx_files(cart, tmp_path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    weights = np.array([[0.0, 0.0], [0.0, 0.0], [-1.0, 1.0], [-1.0, 1.0]], dtype=np.float32)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "agent",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 4])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 2])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(tmp_path / "agent.onnx"))
    log = becausal.record("CartPole-v1", str(tmp_path / "agent.onnx"), rows=200, explore=[0.0])
    data = log.to_dict()
    leaning = data["angle"].astype(np.float32) + data["angle_velocity"].astype(np.float32)
    assert ((data["push"] == "right") == (leaning > 0)).mean() > 0.99


def test_minari_datasets(tmp_path, monkeypatch) -> None:
    minari = pytest.importorskip("minari")
    pytest.importorskip("jax", reason="minari collects with it")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))

    def collected(id: str, name: str, episodes: int) -> "minari.MinariDataset":
        env = minari.DataCollector(gymnasium.make(id))
        env.action_space.seed(0)
        for seed in range(episodes):
            env.reset(seed=seed)
            over = False
            while not over:
                _, _, terminated, truncated, _ = env.step(env.action_space.sample())
                over = terminated or truncated
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return env.create_dataset(dataset_id=name)

    carts = collected("CartPole-v1", "cart/test-v0", 20)
    log = becausal.read(carts)
    assert (len(log), log.episodes) == (carts.total_steps, 20)
    assert log.schema == becausal.Schema.read("CartPole-v1") and log._contradictions()[1] == 0
    by_id = becausal.read("cart/test-v0", env="CartPole-v1")
    assert by_id.to_dict()["angle"].tolist() == log.to_dict()["angle"].tolist()
    assert becausal.fit(by_id, members=1, steps=20).has_environment
    taxi = collected("Taxi-v4", "taxi/test-v0", 2)
    log = becausal.read(taxi)
    assert log.schema.states == ["row", "column", "passenger", "destination"] and log.schema.actions == ["drive"]
    with pytest.raises(FileNotFoundError, match="nothing/here-v0"):
        becausal.read("nothing/here-v0")


def test_agents_can_be_trained_in_our_environments() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = sb3.PPO("MlpPolicy", "becausal/CartPole-v1", n_steps=128, seed=0).learn(256)
        log = becausal.record("becausal/CartPole-v1", agent, rows=300)
    assert log.schema == becausal.Schema.read("CartPole-v1")
    assert log._adapters()[0].problem is None


@pytest.mark.parametrize("id", ["BipedalWalker-v3", "Hopper-v5", "LunarLander-v3", "Ant-v5"])
def test_replays_are_exact(id) -> None:
    pytest.importorskip("mujoco" if id.endswith("v5") else "Box2D")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = becausal.record(id, rows=500, seed=1)
    assert log._adapters()[0].problem is None


def test_buffers_that_lack_something_are_refused() -> None:
    from stable_baselines3.common.buffers import DictReplayBuffer, ReplayBuffer, RolloutBuffer

    box, two = gymnasium.spaces.Box(-1, 1, (2,)), gymnasium.spaces.Discrete(2)
    lean = ReplayBuffer(10, box, two, optimize_memory_usage=True, handle_timeout_termination=False)
    with pytest.raises(ValueError, match="optimize_memory_usage"):
        becausal.read(lean)
    with pytest.raises(ValueError, match="handle_timeout_termination"):
        becausal.read(ReplayBuffer(10, box, two, handle_timeout_termination=False))
    with pytest.raises(ValueError, match="Dict"):
        becausal.read(DictReplayBuffer(10, gymnasium.spaces.Dict({"x": box}), two))
    half = RolloutBuffer(10, box, two)
    for step in range(6):
        half.add(np.full((1, 2), 0.5), np.array([1]), np.ones(1), np.array([step == 0]), torch.zeros(1), torch.zeros(1))
    log = becausal.read(half)
    assert len(log) == 5 and set(log.to_dict()["observation_0"]) == {0.5}


def test_agents_of_other_spaces_and_threads_of_torch(cart) -> None:
    torch.set_num_threads(2)
    becausal.record("CartPole-v1", cart, rows=50)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    three = gymnasium.make("MountainCar-v0")
    three.action_space = gymnasium.spaces.Discrete(2)
    other = sb3.PPO("MlpPolicy", three, n_steps=64)
    with pytest.raises(ValueError, match="the agent acts in Discrete"):
        becausal.record("MountainCar-v0", other, rows=10)


def test_a_vector_environment_of_sb3_is_recorded_as_the_one_it_is_made_of() -> None:
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecFrameStack, VecNormalize

    env = VecNormalize(make_vec_env("CartPole-v1", 2))
    agent = sb3.PPO("MlpPolicy", env, n_steps=64, seed=0).learn(128)
    log = becausal.record(env, agent, rows=100)
    alone = becausal.record("CartPole-v1", agent, rows=100)
    assert log.to_dict()["angle"].tolist() == alone.to_dict()["angle"].tolist()
    with pytest.raises(ValueError, match="VecFrameStack changes what its environments"):
        becausal.record(VecFrameStack(make_vec_env("CartPole-v1", 2), 3), rows=50)
