"""Shows how far long work is: a bar in terminals, a line that is rewritten in notebooks."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, Callable, Optional, Union

Progress = Callable[[str, int, int, str, str], object]

#: Nothing is shown before this many seconds: most work is done by then.
_PATIENCE = 0.5


class Bar:
    """A line per task, rewritten in place."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._task = ""
        self._width = 0
        self._handle: Any = None
        self._in_notebook = _in_notebook()

    def __call__(self, task: str, done: int, total: int, unit: str, note: str) -> None:
        if time.monotonic() - self._begun < _PATIENCE:
            return
        share = done / total if total else 0.0
        filled = round(24 * share)
        bar = "█" * filled + "░" * (24 - filled)
        line = f"{task:<10} {bar} {done:,} of {total:,} {unit}"
        if note:
            line += f"  {note}"
        if self._in_notebook:
            self._display(line)
            return
        if self._task and task != self._task:
            print(file=sys.stderr)
            self._width = 0
        self._task = task
        line = line[:118]
        print("\r" + line.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def _display(self, line: str) -> None:
        display_module: Any = importlib.import_module("IPython.display")

        from ._html import escaped

        shown = display_module.HTML(f"<pre style='margin:0'>{escaped(line)}</pre>")
        if self._handle is None:
            self._handle = display_module.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def close(self) -> None:
        """Leaves a finished line in a terminal, and nothing in a notebook."""
        if self._handle is not None:
            display_module: Any = importlib.import_module("IPython.display")
            self._handle.update(display_module.HTML(""))
            self._handle = None
        if self._task:
            print(file=sys.stderr)
            self._task = ""


def shown(progress: Union[None, bool, Progress]) -> Optional[Progress]:
    """What the user gave as `progress`: a function, or whether to show a bar."""
    if progress is False:
        return None
    if progress is None:
        is_seen = _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        return Bar() if is_seen else None
    if progress is True:
        return Bar()
    if not callable(progress):
        from ._errors import ArgumentError

        raise ArgumentError(
            f"`progress` is {progress!r}, expected a function of task, done, total, unit and note, or False"
        )
    return progress


def close(progress: Optional[Progress]) -> None:
    """Ends a bar."""
    if isinstance(progress, Bar):
        progress.close()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
