"""Kinds of GPU operations as HTA tells them apart, and times in which several run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

COMMUNICATION = "COMMUNICATION"
COMPUTATION = "COMPUTATION"
MEMORY = "MEMORY"
OTHER = "OTHER"

_COMMUNICATION = re.compile(r"^nccl.*Kernel")
_MEMORY = re.compile(r"^(?:Memcpy|Memset|dma)")
_COPY = re.compile(r"^Memcpy .to.")
_NO_COMPUTATION = re.compile(r"(?:.*Memcpy)|(?:Memset)|(?:.*Sync)")

Span = tuple[float, float]


def kernel_type(name: str) -> str:
    """The kind of an operation, from its name."""
    if _COMMUNICATION.match(name):
        return COMMUNICATION
    if _MEMORY.match(name):
        return MEMORY
    return OTHER if _NO_COMPUTATION.match(name) else COMPUTATION


def copy_kind(name: str) -> str:
    """The kind of a copy, without what it copies between: ``Memcpy DtoH``."""
    if name.startswith("Memset"):
        return "Memset"
    match = _COPY.match(name)
    return match[0] if match else "Memcpy Unknown"


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same times without overlap, in their order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def total(spans: Sequence[Span]) -> float:
    """How long they last together."""
    return sum(end - start for start, end in spans)


def time_by_running(spans: Mapping[str, Sequence[Span]]) -> dict[tuple[str, ...], float]:
    """How long which kinds run at once, in the order of the kinds. Spans of a kind do not overlap.

    A combination that lasts no time is there where kinds follow each other without a gap.
    """
    changes = sorted(
        (moment, change, at)
        for at, kind in enumerate(spans.values())
        for start, end in kind
        for moment, change in ((start, 1), (end, -1))
    )
    names = list(spans)
    running = [0] * len(names)
    times: dict[tuple[str, ...], float] = {}
    for (moment, change, at), (after, _, _) in zip(changes, changes[1:], strict=False):
        running[at] += change
        now = tuple(name for name, number in zip(names, running, strict=True) if number > 0)
        if now and after > moment:
            times[now] = times.get(now, 0.0) + after - moment
    return times
