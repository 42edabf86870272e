"""Times of regions inside a Python program, for ``parallax measure``.

>>> from parallax.regions import region
>>> with region(1):
...     pass
>>> @region(2)
... def solve() -> None: ...

Regions are numbered, as in C (``pascalops.h``). Region 2 that starts inside of region 1 is region
``1.2``; each thread has its own nesting. Without ``parallax measure`` the marks do nothing. A mark
costs one to two microseconds, so mark what takes hundreds of them.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
import sys
import threading
import time
from contextlib import ContextDecorator
from types import TracebackType
from typing import Literal

__all__ = ["region", "start", "stop"]

# The bytes are those of crates/measure/include/pascalops.h.
_PAGE = 65_536
_BLOCK = 256 << 10
_DEEPEST = 128
_LONGEST_FILE = 255
_DEFINITION = struct.Struct("=IIIIq")
_ENTRY = struct.Struct("=IIIIQQ")
# The largest record, and the kind behind the last one.
_ROOM = _DEFINITION.size + _LONGEST_FILE + 8


class _Run:
    """The file of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.generation = 0
        self.state: Literal["not open", "on", "off"] = "not open"
        self.file = -1
        self.length = 0
        self.limit = 0
        self.threads = 0

    def block(self) -> mmap.mmap | None:
        """A new block, or nothing where nothing is recorded. With the lock held."""
        if self.state == "not open":
            self._open()
        if self.state != "on":
            return None
        if self.length + _BLOCK > self.limit:
            self._end("they take as much as PARALLAX_LIMIT_MB allows")
            return None
        try:
            os.posix_fallocate(self.file, self.length, _BLOCK)
            block = mmap.mmap(self.file, _BLOCK, offset=self.length)
        except OSError as error:
            self._end(os.strerror(error.errno or errno.EIO))
            return None
        self.length += _BLOCK
        return block

    def _open(self) -> None:
        self.state = "off"
        folder = os.environ.get("PARALLAX_REGIONS")
        if not folder or not sys.platform.startswith("linux"):
            return
        self.limit = int(os.environ.get("PARALLAX_LIMIT_MB") or 1024) << 20
        path = os.path.join(folder, f"{os.getpid()}.regions")
        head = bytearray(_PAGE)
        now = time.monotonic_ns()
        # Ticks are nanoseconds of the monotonic clock.
        times = (time.time_ns(), now, os.getpid(), 0, now, now, now)
        head[:64] = b"PLXREGN1" + struct.pack("=7Q", *times)
        try:
            self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            os.posix_fallocate(self.file, 0, _PAGE)
            os.pwrite(self.file, head, 0)
        except OSError as error:
            self._end(os.strerror(error.errno or errno.EIO))
            return
        self.length = _PAGE
        self.state = "on"

    def _end(self, why: str) -> None:
        self.state = "off"
        if self.file >= 0:
            os.pwrite(self.file, b"\1", 32)
        print(f"parallax: regions are no longer recorded: {why}", file=sys.stderr)

    def forked(self) -> None:
        """A child has a file of its own; what its parent has open is the parent's."""
        if self.file >= 0:
            os.close(self.file)
        generation = self.generation + 1
        self.__init__()
        self.generation = generation


class _Thread(threading.local):
    """Where a thread writes, and what it has open."""

    def __init__(self) -> None:
        self.generation = -1
        self.block: mmap.mmap | None = None
        self.at = 0
        # Numbers of regions by the number of the one around and the id.
        self.nodes: dict[tuple[int, int], int] = {}
        # Number, id, line and start.
        self.open: list[tuple[int, int, int, int]] = []
        self.number = 0
        self.beyond = 0

    def room(self) -> mmap.mmap | None:
        """A block with room for a record, or nothing where nothing is recorded."""
        if self.generation == _run.generation and self.at + _ROOM <= _BLOCK:
            return self.block if _run.state == "on" else None
        with _run.lock:
            block = _run.block()
            if self.generation != _run.generation:
                self.__init__()
                self.generation = _run.generation
                self.number = _run.threads
                _run.threads += 1
        self.block, self.at = block, 8
        if block is not None:
            struct.pack_into("=Q", block, 0, self.number)
        return block


_run = _Run()
_thread = _Thread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_run.forked)


def _caller() -> tuple[str, int]:
    """File and line of the code that marks a region."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_globals.get("__name__") in (__name__, "contextlib"):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def start(number: int) -> None:
    """Begins the region with this number.

    :param number: Any whole number of 64 bits.
    """
    if _run.state == "off":
        return
    block = _thread.room()
    if block is None:
        return
    if len(_thread.open) >= _DEEPEST:
        _thread.beyond += 1
        return
    file, line = _caller()
    around = _thread.open[-1][0] if _thread.open else 0
    node = _thread.nodes.get((around, number))
    if node is None:
        node = len(_thread.nodes) + 1
        name = os.fsencode(file)[-_LONGEST_FILE:]
        _DEFINITION.pack_into(block, _thread.at, 1, node, around, len(name), number)
        begin = _thread.at + _DEFINITION.size
        block[begin : begin + len(name)] = name
        _thread.at = begin + (len(name) + 7) // 8 * 8
        _thread.nodes[around, number] = node
    _thread.open.append((node, number, line, time.monotonic_ns()))


def stop(number: int) -> None:
    """Ends the region with this number, and those inside of it that were not ended.

    A region that was not begun is ignored.
    """
    if _run.state != "on" or _thread.generation != _run.generation:
        return
    now = time.monotonic_ns()
    if _thread.beyond:
        _thread.beyond -= 1
        return
    depth = len(_thread.open)
    while depth and _thread.open[depth - 1][1] != number:
        depth -= 1
    if not depth:
        return
    block = _thread.room()
    if block is None:
        return
    node, _, line, begin = _thread.open[depth - 1]
    del _thread.open[depth - 1 :]
    _ENTRY.pack_into(block, _thread.at, 2, node, line, _caller()[1], begin, now)
    _thread.at += _ENTRY.size


class region(ContextDecorator):
    """A region for the block of a ``with`` statement, or around a function.

    :param number: Any whole number of 64 bits.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> region:
        start(self.number)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        stop(self.number)


