"""Writes a graph frame of Hatchet as profiles of TAU, which have call paths, metrics and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_INCLUSIVE = " (inc)"


def write_profiles(
    frame: Any, folder: Path, metrics: Sequence[str] | None, seconds: float
) -> None:
    """Writes each rank and thread as a file, in a folder for each metric."""
    table = frame.dataframe
    levels = [level for level in table.index.names if level != "node"]
    for level in levels:
        if level not in ("rank", "thread"):
            raise MisuseError(
                f"the frame is indexed by {level}, too",
                "from_hatchet takes frames by node, rank and thread; select one of each other level",
            )
    exclusive = [name for name in frame.exc_metrics if name in table.columns]
    inclusive = [name for name in frame.inc_metrics if name in table.columns]
    known = [*exclusive, *(name.removesuffix(_INCLUSIVE) for name in inclusive)]
    chosen = list(dict.fromkeys(known)) if metrics is None else list(metrics)
    for metric in chosen:
        if metric not in known:
            raise MisuseError(f"the frame has no metric {metric}", f"there are {', '.join(known)}")
    if not chosen:
        raise MisuseError("the frame has no metric", "there are exc_metrics and inc_metrics")
    ordered = _depth_first(frame.graph)
    paths = _paths(ordered)
    places = list(dict.fromkeys(_place(levels, key) for key in table.index))
    for metric in chosen:
        own = _values(table, levels, metric if metric in exclusive else None)
        name = next((one for one in inclusive if one.removesuffix(_INCLUSIVE) == metric), None)
        whole = _values(table, levels, name)
        inside = folder if len(chosen) == 1 else folder / f"MULTI__{_plain(metric)}"
        inside.mkdir(exist_ok=True)
        # TAU has times in microseconds.
        is_time = "time" in metric.lower()
        factor = seconds * 1e6 if is_time else 1.0
        label = "TIME" if is_time and len(chosen) == 1 else _plain(metric)
        for rank, thread in places:
            lines = _lines(ordered, paths, own, whole, (rank, thread), factor)
            head = f"{len(lines)} templated_functions_MULTI_{label}\n"
            head += "# Name Calls Subrs Excl Incl ProfileCalls #\n"
            path = inside / f"profile.{rank}.0.{thread}"
            path.write_text(head + "".join(lines) + "0 aggregates\n", encoding="utf-8")


def _lines(
    ordered: list[tuple[Any, Any]],
    paths: dict[Any, str],
    own: dict[Any, float] | None,
    whole: dict[Any, float] | None,
    place: tuple[int, int],
    factor: float,
) -> list[str]:
    """A line for each call path, with both kinds of values."""
    inside: dict[Any, float] = {}
    values: dict[str, list[float]] = {}
    # What is below comes first, so that its values are known.
    for node, parent in reversed(ordered):
        below = inside.get(node, 0.0)
        exclusive = None if own is None else own.get((node, place), 0.0)
        inclusive = None if whole is None else whole.get((node, place), 0.0)
        if exclusive is None:
            exclusive = max((inclusive or 0.0) - below, 0.0)
        if inclusive is None:
            inclusive = exclusive + below
        if parent is not None:
            inside[parent] = inside.get(parent, 0.0) + inclusive
        both = values.setdefault(paths[node], [0.0, 0.0])
        both[0] += exclusive
        both[1] += inclusive
    number = len(ordered)
    return [
        f'"{path}" 1 {0 if number == 1 else 1} {exclusive * factor!r} {inclusive * factor!r} 0 '
        'GROUP="TAU_CALLPATH"\n'
        for path, (exclusive, inclusive) in sorted(values.items())
    ]


def _depth_first(graph: Any) -> list[tuple[Any, Any]]:
    """The nodes with what is above each, parents first."""
    ordered: list[tuple[Any, Any]] = []
    rest: list[tuple[Any, Any]] = [(root, None) for root in reversed(graph.roots)]
    seen: set[int] = set()
    while rest:
        node, parent = rest.pop()
        # A node with several callers belongs to the first of them, as its values are not divided.
        if id(node) in seen:
            continue
        seen.add(id(node))
        ordered.append((node, parent))
        rest.extend((child, node) for child in reversed(node.children))
    return ordered


def _paths(ordered: list[tuple[Any, Any]]) -> dict[Any, str]:
    paths: dict[Any, str] = {}
    for node, parent in ordered:
        name = _plain(str(node.frame.attrs.get("name") or "<unnamed>"))
        paths[node] = name if parent is None else f"{paths[parent]} => {name}"
    return paths


def _plain(name: str) -> str:
    """A name without what separates names there."""
    return name.replace('"', "'").replace("=>", "->").replace("\n", " ").strip()


def _place(levels: list[str], key: Any) -> tuple[int, int]:
    values = dict(zip(levels, key[1:], strict=True)) if levels else {}
    return int(values.get("rank", 0)), int(values.get("thread", 0))


def _values(table: Any, levels: list[str], column: str | None) -> dict[Any, float] | None:
    """The values of a column by node and place."""
    if column is None:
        return None
    found: dict[Any, float] = {}
    for key, value in zip(table.index, table[column], strict=True):
        node = key[0] if levels else key
        # What was not measured is no number.
        found[node, _place(levels, key)] = float(value) if value == value else 0.0
    return found
