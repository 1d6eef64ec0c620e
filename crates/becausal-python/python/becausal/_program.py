"""The program, with Gymnasium's environments."""

from __future__ import annotations

from . import _becausal


def main(arguments: list[str]) -> int:
    """Runs the program and returns its exit code."""
    return _becausal.main(["becausal", *arguments])
