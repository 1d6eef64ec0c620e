"""What several tests share: the greenhouse log of the documentation, and a run that was fitted to it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import becausal

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="session")
def greenhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("greenhouse")
    for name in ("log.csv", "schema.toml"):
        shutil.copy(EXAMPLES / "greenhouse" / name, folder / name)
    return folder


@pytest.fixture(scope="session")
def log(greenhouse: Path) -> becausal.Log:
    return becausal.read(greenhouse / "log.csv", schema=greenhouse / "schema.toml", ignore="timestamp")


@pytest.fixture(scope="session")
def run(log: becausal.Log) -> becausal.Run:
    return becausal.fit(log, members=2, steps=200)


@pytest.fixture(scope="session")
def car() -> becausal.Run:
    """A quick run of a Gymnasium environment, with a policy."""
    recorded = becausal.record("MountainCar-v0", pump, rows=1500, seed=0)
    return becausal.fit(recorded, members=1, steps=200)


def pump(observation):  # type: ignore[no-untyped-def]
    """Pushes the way the car moves."""
    return 2 if observation[1] >= 0 else 0
