"""`python -m becausal` with Gymnasium's environments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("gymnasium")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("program")


def program(folder, *words: str, code: int = 0) -> str:
    done = subprocess.run([sys.executable, "-m", "becausal", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stdout + done.stderr


def test_an_environment_of_gymnasium_is_recorded_fitted_asked_and_audited(folder) -> None:
    told = json.loads(program(folder, "collect", "gym:MountainCar-v0", "-n", "1200", "-o", "car.npz", "--json", "-q"))
    assert told["rows"] == 1200
    assert "1,200" in program(folder, "fit", "car.npz", "-o", "run", "--members", "1", "--steps", "50", "-q")
    assert "push" in program(folder, "explain", "run", "--step", "3", "--brief")
    audit = json.loads(program(folder, "audit", "run", "--policy", "random", "--states", "4", "--json", "-q"))
    assert audit["cases"] == 8


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_ctrl_c_ends_the_program(folder) -> None:
    program(folder, "collect", "gym:MountainCar-v0", "-n", "600", "-o", "short.npz", "-q")
    words = ["fit", "short.npz", "-o", "long", "--members", "200", "--steps", "100000", "-q"]
    process = subprocess.Popen([sys.executable, "-m", "becausal", *words], cwd=folder)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) in (130, -signal.SIGINT)
    assert not (folder / "long").exists()


def test_options_go_to_the_environment(folder) -> None:
    words = ["collect", "gym:MountainCar-v0", "-n", "100", "-o", "fast.csv", "-q", "--env-option", "goal_velocity=0.01"]
    program(folder, *words)
    assert "goal_velocity" in (folder / "fast.schema.toml").read_text()


def test_what_is_wrong_is_said(folder) -> None:
    told = program(folder, "collect", "gym:no-such-v0", "-o", "x.npz", code=1)
    assert told.startswith("error: no-such-v0") and "Traceback" not in told
    assert "built-in" in program(folder, "train", "gym:MountainCar-v0", "-o", "x", code=2)
    assert "[state]" in program(folder, "envs", "gym:MountainCar-v0")
    assert json.loads(program(folder, "--json", "envs", "gym:MountainCar-v0"))["name"] == "MountainCar-v0"
    told = json.loads(program(folder, "--threads", "2", "collect", "gym:no-such-v0", "-o", "x.npz", "--json", code=1))
    assert told["error"]["kind"] == "failed" and "no-such" in told["error"]["message"]
    assert "no such file" in program(folder, "audit", "run", "--policy", "none.zip", code=1)


def test_a_built_in_environment_keeps_its_options_with_another_agent(folder) -> None:
    import becausal

    words = ["collect", "CartPole-v1", "-n", "300", "-o", "cart.npz", "-q", "--env-option", "max_episode_steps=7"]
    program(folder, *words)
    becausal.fit(becausal.read(folder / "cart.npz"), members=1, steps=20).save(folder / "cart")
    run = becausal.open(folder / "cart", policy=lambda observation: int(observation[2] > 0))
    assert run.has_policy and len(run.play(seed=1)) == 7
