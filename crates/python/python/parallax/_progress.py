"""Progress of long questions, in interactive sessions."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, int], object]

_PATIENCE_S = 0.5
_WIDTH = 32

_chosen: Progress | bool | None = None


def show_progress(how: Progress | bool | None = None) -> None:
    """Says where progress of long questions is shown.

    Parameters
    ----------
    how
        ``True`` and ``False`` for always and never, ``None`` for terminals and notebooks, which is
        the default; or a function that takes how many parts of how many are done. An exception in
        it withdraws the question.
    """
    global _chosen
    _chosen = how


def progress() -> Progress | None:
    """What to tell about the progress of a question that begins now."""
    if _chosen is None:
        return _Bar() if _is_watched() else None
    if isinstance(_chosen, bool):
        return _Bar() if _chosen else None
    return _chosen


def _is_watched() -> bool:
    # A kernel of Jupyter shows its standard error in the notebook.
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _Bar:
    """A line on standard error that says how far a question has come, once it takes long."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._is_shown = False

    def __call__(self, done: int, total: int) -> None:
        if total <= 0 or time.monotonic() - self._start < _PATIENCE_S:
            return
        part = min(done / total, 1.0)
        filled = round(part * _WIDTH)
        bar = "█" * filled + "░" * (_WIDTH - filled)
        sys.stderr.write(f"\r{bar} {part:4.0%}")
        sys.stderr.flush()
        self._is_shown = True

    def end(self) -> None:
        """The question has ended."""
        if self._is_shown:
            sys.stderr.write("\r" + " " * (_WIDTH + 6) + "\r")
            sys.stderr.flush()
