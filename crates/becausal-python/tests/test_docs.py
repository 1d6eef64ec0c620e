"""The examples in the docstrings are run."""

from __future__ import annotations

import doctest
import inspect
import os

import pytest

import becausal
from becausal import _becausal, _data, _front, _record


def documented():
    for name in becausal.__all__:
        thing = getattr(becausal, name)
        if getattr(thing, "__doc__", None) and not isinstance(thing, str):
            yield name, thing
        if inspect.isclass(thing):
            for method, value in vars(thing).items():
                if not method.startswith("_") and getattr(value, "__doc__", None):
                    yield f"{name}.{method}", value
    yield "becausal", becausal


CASES = [(name, thing) for name, thing in documented() if ">>>" in thing.__doc__]


def test_there_are_examples() -> None:
    assert len(CASES) >= 10, [name for name, _ in CASES]


@pytest.mark.parametrize("name, thing", CASES, ids=[name for name, _ in CASES])
def test_examples(name, thing, greenhouse, log, run, tmp_path, monkeypatch) -> None:
    if "record(" in thing.__doc__:
        pytest.importorskip("gymnasium")
    monkeypatch.chdir(tmp_path)
    for file in greenhouse.iterdir():
        os.symlink(file, tmp_path / file.name)
    names = {"becausal": becausal, "log": log, "run": run}
    test = doctest.DocTestParser().get_doctest(thing.__doc__, names, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_everything_public_is_documented() -> None:
    bare = [name for name in becausal.__all__ if not getattr(getattr(becausal, name), "__doc__", "x")]
    for module in (_front, _data, _record):
        bare += [
            f"{module.__name__}.{name}"
            for name, value in vars(module).items()
            if inspect.isfunction(value) and not name.startswith("_") and not value.__doc__
        ]
    for name in ("Run", "Log", "Graph", "Schema", "Answer", "Moment", "Episode", "Audit"):
        for method, value in vars(getattr(_becausal, name)).items():
            if not method.startswith("_") and not getattr(value, "__doc__", None):
                bare.append(f"{name}.{method}")
    assert not bare
