"""Why did the agent do that?

becausal learns a causal model of an agent's environment from recorded steps, and explains actions by the chains
of causes from the action to the rewards:

>>> import becausal
>>> log = becausal.read("log.csv", schema="schema.toml", ignore="timestamp")
>>> run = becausal.fit(log, members=2, steps=200)
>>> print(run.why_not(run.recorded(26, 20), "off").question)
Why device = heat and not device = off at step 20?
"""

from __future__ import annotations

from ._becausal import Answer, Audit, Episode, Graph, Log, Moment, Run, Schema, View, __version__, discover, fit, train
from ._errors import (
    ArgumentError,
    DataError,
    Error,
    FileError,
    MissingError,
    NotFoundError,
    OutOfMemoryError,
    ReplayError,
    SchemaError,
    SpaceError,
)
from ._front import batched, open, read, record
from ._registry import register_with_gymnasium as _register_with_gymnasium

__all__ = [
    "Answer",
    "ArgumentError",
    "Audit",
    "DataError",
    "Episode",
    "Error",
    "FileError",
    "Graph",
    "Log",
    "MissingError",
    "Moment",
    "NotFoundError",
    "OutOfMemoryError",
    "ReplayError",
    "Run",
    "Schema",
    "SchemaError",
    "SpaceError",
    "View",
    "__version__",
    "batched",
    "discover",
    "fit",
    "open",
    "read",
    "record",
    "train",
]

_register_with_gymnasium()
