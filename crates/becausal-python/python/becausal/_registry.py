"""Tells Gymnasium which environments there are, without importing it.

Importing Gymnasium takes longer than becausal itself. Where it is imported later, this happens right after.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Optional, Sequence

from . import _becausal


def register() -> None:
    """Registers the built-in environments as `becausal/ID`."""
    import gymnasium

    for entry in _becausal.environments():
        id = f"becausal/{entry['id']}"
        if id not in gymnasium.registry:
            gymnasium.register(
                id=id,
                entry_point="becausal._environments:BuiltInEnv",
                max_episode_steps=entry["max_episode_steps"],
                kwargs={"id": entry["id"]},
                # It checks itself that an episode was begun.
                order_enforce=False,
            )


class _Loader(importlib.abc.Loader):
    """Loads Gymnasium, then registers."""

    def __init__(self, loader: Any, finder: "_Finder") -> None:
        self._loader, self._finder = loader, finder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        # What reads Gymnasium's files asks its own loader.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        register()


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for the import of Gymnasium."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]], target: Optional[ModuleType] = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name != "gymnasium":
            return None
        # Looking for Gymnasium is not importing it: this goes on waiting until it is.
        at = sys.meta_path.index(self)
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(at, self)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec


def register_with_gymnasium() -> None:
    """Now where Gymnasium is there, or as soon as it is."""
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _Finder())
