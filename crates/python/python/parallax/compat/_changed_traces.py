"""Copies of traces with something added: counters, or the critical path."""

from __future__ import annotations

import os
from enum import Flag, auto
from typing import TYPE_CHECKING, Any

from ._critical_path import CPEdge, CPEdgeType, CPGraph

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOW_LAUNCHES = "CRITICAL_PATH_SHOW_ZERO_WEIGHT_LAUNCH_EDGE"
_SHOWN = (CPEdgeType.DEPENDENCY, CPEdgeType.KERNEL_LAUNCH_DELAY, CPEdgeType.SYNC_DEPENDENCY)
# What stays where only critical events are shown: it says what the program was doing.
_CONTEXT = ("user_annotation", "python_function")


class TimeSeriesTypes(Flag):
    """Which counters a copy of a trace gets."""

    QUEUE_LENGTH = auto()
    MEMCPY_BANDWIDTH = auto()


def counters(frame: Any, name: str, column: str, since: float) -> list[dict[str, Any]]:
    """A time series as counters of a trace; ``since`` is added to its times."""
    names = frame["name"] if "name" in frame else [name] * len(frame)
    streams = frame["stream"] if "stream" in frame else [None] * len(frame)
    events: list[dict[str, Any]] = []
    rows = zip(frame["pid"], frame["ts"], frame[column], names, streams, strict=True)
    for pid, at, value, called, stream in rows:
        event = {"ph": "C", "name": called, "pid": int(pid), "ts": _plain(at + since)}
        if stream is not None:
            event["id"] = int(stream)
        events.append({**event, "args": {name: _plain(value)}})
    return events


def with_critical_path(
    content: dict[str, Any], graph: CPGraph, only_critical: bool, all_edges: bool
) -> dict[str, Any]:
    """The trace with ``critical`` among the arguments of the events of the critical path, and with
    arrows of its edges."""
    events = content["traceEvents"]
    critical = graph.critical_path_events_set
    for at in critical:
        events[at].setdefault("args", {})["critical"] = 1
    arrows: list[dict[str, Any]] = []
    for number, edge in enumerate(_edges(graph, all_edges and not only_critical)):
        kind = edge.type.value
        is_critical = edge in graph.critical_path_edges_set
        args = {"weight": _plain(edge.weight), "critical": is_critical, "type": kind}
        both = {"id": number, "name": "critical_path", "cat": kind, "args": args}
        begin, end = (events[at] for at in graph.get_events_for_edge(edge))
        begin_at = _time(begin, graph.node_list[edge.begin].is_start)
        end_at = _time(end, graph.node_list[edge.end].is_start)
        arrows.append({"ph": "s", **both, "pid": begin["pid"], "tid": begin["tid"], "ts": begin_at})
        arrow = {"ph": "f", **both, "pid": end["pid"], "tid": end["tid"], "ts": end_at, "bp": "e"}
        arrows.append(arrow)
    if only_critical:
        events = [
            event
            for at, event in enumerate(events)
            if event.get("ph") != "X" or event.get("cat") in _CONTEXT or at in critical
        ]
    return {**content, "traceEvents": events + arrows}


def _edges(graph: CPGraph, all_edges: bool) -> Iterable[CPEdge]:
    if not all_edges:
        path = graph.critical_path_nodes
        edges = [graph.edges[places]["object"] for places in zip(path, path[1:], strict=False)]
        return [edge for edge in edges if edge.type in _SHOWN]
    shows_launches = os.environ.get(_SHOW_LAUNCHES, "0") == "1"
    edges = [data["object"] for data in graph.edges.values()]
    launch = CPEdgeType.KERNEL_LAUNCH_DELAY
    return [edge for edge in edges if edge.weight or edge.type != launch or shows_launches]


def _time(event: dict[str, Any], is_start: bool) -> Any:
    """When an event begins or ends; of a GPU operation a moment inside it, so that viewers find what
    the arrow belongs to."""
    if is_start:
        return event["ts"]
    end = event["ts"] + event["dur"]
    return end - min(1, event["dur"]) if event.get("args", {}).get("device", -1) >= 0 else end


def _plain(value: Any) -> int | float:
    """A number as JSON has it, whole where it is."""
    return int(value) if float(value).is_integer() else float(value)
