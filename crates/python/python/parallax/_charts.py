"""Answers as Vega-Lite: a description of a chart, which front ends of notebooks and Altair draw."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._errors import MisuseError

if TYPE_CHECKING:
    from ._answers import Answer
    from ._table import Table, Value

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_MIME = "application/vnd.vegalite.v5+json"


class Chart(dict[str, Any]):
    """A specification of Vega-Lite, with its values; JupyterLab and VS Code draw it."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        title = self.get("title") or "chart"
        return {_MIME: dict(self), "text/plain": f"<Vega-Lite: {title}>"}


@dataclass(frozen=True)
class _Chart:
    """How a table is drawn: which columns are where."""

    mark: str
    x: str
    y: str
    table: str = "rows"
    colour: str = ""
    end: str = ""
    """The column of the right end of a bar over time."""
    is_ranking: bool = False
    """The first rows as bars below each other, in their order."""


def _ranking(value: str, name: str = "name", table: str = "rows", colour: str = "") -> _Chart:
    return _Chart("bar", value, name, table, colour, is_ranking=True)


# The first whose columns an answer has. Questions with several answers have one for each.
_CHARTS: dict[str, tuple[_Chart, ...]] = {
    "flat": (_ranking("exclusive"),),
    "balance": (_ranking("saving"),),
    "distribution": (_Chart("bar", "location", "value"),),
    "stats": (_ranking("exclusive_s", colour="group"),),
    "report": (_ranking("cost", "class", "categories", "group"),),
    "waits": (_ranking("waiting_s", "function", colour="kind"),),
    "over_time": (
        _Chart("bar", "start_s", "exclusive_s", colour="name", end="end_s"),
        _Chart("rect", "start_s", "location", colour="idle_percent", end="end_s"),
        _Chart("rect", "start_s", "location", colour="overlap_percent", end="end_s"),
        _Chart("bar", "start_s", "saving_s", end="end_s"),
        _Chart("bar", "start_s", "longest_s", colour="function", end="end_s"),
    ),
    "iterations": (_Chart("line", "iteration", "max_s", "iterations"),),
    "idleness": (
        _Chart("bar", "location", "idle_percent"),
        _Chart("bar", "group", "trace_idle_percent"),
        _ranking("idle", "call_path"),
    ),
    "correlation_points": (_Chart("point", "first", "second", "points"),),
    "clusters": (_Chart("point", "axis_1", "axis_2", "members", "group"),),
    "messages": (_Chart("rect", "receiver", "sender", colour="bytes"),),
    "gpu_stalls": (_ranking("cycles", "reason", "reasons", "group"),),
    "scaling_table": (
        _Chart("line", "cores", "efficiency", colour="input"),
        _ranking("own_loss"),
    ),
    "user_events": (_ranking("sum", "event", "events"),),
    "topology": (_ranking("value", "name", "nodes"),),
    "differences": (_ranking("difference"),),
}

_MOST_BARS = 30


def chart_of(answer: Answer, max_rows: int) -> Chart:
    """The chart of an answer; raises where its question has none."""
    for chart in _CHARTS.get(answer.question, ()):
        table = answer.tables.get(chart.table)
        used = [name for name in (chart.x, chart.y, chart.colour, chart.end) if name]
        if table is not None and all(name in table for name in used):
            return _drawn(chart, table, used, answer.question, max_rows)
    raise MisuseError(
        f"there is no chart of `{answer.question}`",
        f"there are charts of {', '.join(sorted(_CHARTS))}; tables go to any plotting library",
    )


def _drawn(
    chart: _Chart, table: Table, used: list[str], question: str, max_rows: int
) -> Chart:
    rows = min(max_rows, _MOST_BARS) if chart.is_ranking else max_rows
    columns = {name: table.column(name, rows) for name in used}
    values: list[dict[str, Value]] = [
        {name: columns[name][row] for name in used} for row in range(min(rows, len(table)))
    ]
    fields = {field.name: field for field in table.fields}

    def channel(name: str) -> dict[str, Any]:
        field = fields[name]
        is_number = field.type not in ("string", "bool")
        title = f"{field.head} ({field.unit})" if field.unit else field.head
        return {
            "field": name,
            "type": "quantitative" if is_number else "nominal",
            "title": title or name,
        }

    encoding = {"x": channel(chart.x), "y": channel(chart.y)}
    if chart.is_ranking:
        encoding["y"]["sort"] = None
    if chart.end:
        encoding["x2"] = {"field": chart.end}
    if chart.colour:
        encoding["color"] = channel(chart.colour)
    encoding["tooltip"] = [channel(name) for name in used]  # type: ignore[assignment]
    spec = Chart({"$schema": _SCHEMA, "title": question.replace("_", " ")})
    if len(values) < len(table):
        spec["description"] = f"the first {len(values)} of {len(table)} rows"
    spec |= {"data": {"values": values}, "mark": chart.mark, "encoding": encoding}
    return spec
