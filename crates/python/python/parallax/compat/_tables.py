"""The tables and analyses of hpcanalysis, from answers of Parallax."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from .._errors import MisuseError, ReadError
from .._table import import_library
from .._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._open import Experiment
    from .._tree import Context

_FIELDS = ("node", "rank", "thread", "core", "gpustream", "gpucontext", "gpudevice")
_UNITS = {"s": "sec"}
_METRIC = re.compile(r"(.+?)(?::(sum|min|max|[a-z-]+))? \((\w+)\)$")

_CLASSES = {
    ("MPI", "Point-to-point"): "MPI Point-to-Point",
    ("MPI", "Collective"): "MPI Collective",
    ("MPI", "Environment"): "MPI Environmental Inquiry Functions and Profiling",
    ("OpenMP", "Runtime"): "OpenMP Overhead",
}


def normal_name(name: str) -> str:
    """The name of a function without its module, version and arguments."""
    match = re.match(r"P?(MPI_[A-Za-z_]+)", name)
    if match:
        name = match[1]
    for mark in (" [", ".", "@", "(", "<"):
        at = name.find(mark)
        if at > 0:
            name = name[:at]
    return name


def contexts(experiment: Experiment, ids: list[int] | None) -> Any:
    """Contexts, by id."""
    pandas = import_library("pandas", "pandas")
    tree = experiment.tree
    rows = list(tree) if ids is None else [tree[id_] for id_ in ids]
    columns: dict[str, list[Any]] = {
        "id": [context.id for context in rows],
        "type": [context.kind for context in rows],
        "parent": [None if context.parent is None else context.parent.id for context in rows],
        "children": [[child.id for child in context.children] for context in rows],
        "depth": [context.depth for context in rows],
        "name": [
            normal_name(context.name) if context.kind == "function" else None for context in rows
        ],
        "file_path": [context.file or None for context in rows],
        "line": [context.line if context.file else None for context in rows],
        "module_path": [context.module or None for context in rows],
    }
    frame = pandas.DataFrame(columns).set_index("id")
    texts = dict.fromkeys(("type", "name", "file_path", "module_path"), "string")
    return frame.astype({**texts, **dict.fromkeys(("parent", "depth", "line"), "Int64")})


def metrics(experiment: Experiment, wanted: str | None) -> Any:
    """Metrics that have values, by id."""
    pandas = import_library("pandas", "pandas")
    units = {one["name"]: one["unit"] for one in experiment.metrics().reply["metrics"]}
    found: set[tuple[int, str, str, str, str]] = set()
    for profiles in ("summary", "!summary"):
        answer = experiment.query(profiles=profiles, metrics=wanted)
        for id_, text in zip(answer["metric_id"], answer["metric"], strict=True):
            match = _METRIC.match(str(text))
            if match is None:
                continue
            name, statistic, scope = match[1], cast("str | None", match[2]), match[3]
            unit = str(units.get(name) or "")
            unit = _UNITS.get(unit, unit)
            kind = statistic if profiles == "summary" and statistic else "prop"
            found.add((cast("int", id_), name.lower(), kind, scope, unit))
    columns = ["id", "name", "aggregation", "scope", "unit"]
    frame = pandas.DataFrame(sorted(found), columns=columns)
    texts = dict.fromkeys(columns[1:], "string")
    return frame.astype({"id": "Int64", **texts})


def profiles(experiment: Experiment, chosen: str) -> Any:
    """Profiles that have values, by id; the summary where the expression is ``*``."""
    pandas = import_library("pandas", "pandas")
    values = experiment.query(profiles=chosen, is_raw=True).to_pandas()
    counted = values.groupby("profile_id").agg(
        ctx_samples=("context_id", "nunique"), metric_samples=("context_id", "size")
    )
    identities = identities_of(experiment)
    frame = pandas.DataFrame(index=counted.index)
    for field in _FIELDS:
        frame[field] = [identities.get(id_, {}).get(field) for id_ in counted.index]
    frame["ctx_samples"] = counted["ctx_samples"]
    frame["metric_samples"] = counted["metric_samples"]
    frame["trace_samples"] = 0
    if experiment.has_trace:
        samples = experiment.trace(profiles=f"({chosen}) & !summary", is_raw=True).to_pandas()
        frame["trace_samples"] = samples.groupby("profile_id").size().reindex(frame.index).fillna(0)
    frame.index.name = "id"
    return frame.astype("Int64")


def identities_of(experiment: Experiment) -> dict[int, dict[str, Any]]:
    """What each profile was measured of."""
    locations = experiment.stacks(top=1, helpers=True).locations
    fields = [field for field in _FIELDS if field in locations]
    found: dict[int, dict[str, Any]] = {}
    for id_, *values in zip(
        locations["location"], *(locations[field] for field in fields), strict=True
    ):
        found[cast("int", id_)] = dict(zip(fields, values, strict=True))
    return found


def _time_unit(experiment: Experiment) -> str:
    return _UNITS.get(experiment.tree.unit, "cycles")


def flat(
    experiment: Experiment,
    chosen: str,
    profiles_exp: str,
    fields: Sequence[str],
    include_percentage: bool,
) -> Any:
    """Time of functions by fields of the profiles."""
    if not fields:
        raise MisuseError("flat_profile adds up by the fields of its profile expression", "name one")
    frame = _values(experiment, chosen, profiles_exp, "time (i)", fields)
    by = [*fields, "function"]
    table = frame.groupby(by)[["value"]].sum()
    if include_percentage:
        whole = _values(experiment, "application", profiles_exp, "time (i)", fields)
        totals = whole.groupby(list(fields))["value"].sum()
        keys = table.index.droplevel("function")
        table["percentage (%)"] = (table["value"] / totals.reindex(keys).to_numpy() * 100).round(2)
    unit = _time_unit(experiment)
    functions = table.index.get_level_values("function").unique()
    if len(functions) == 1:
        return table.droplevel("function").rename(columns={"value": f"{functions[0]} ({unit})"})
    return table.rename(columns={"value": f"time ({unit})"})


def _values(
    experiment: Experiment, chosen: str, profiles_exp: str, metric: str, fields: Sequence[str] = ()
) -> Any:
    """Values with the normal names of their functions and fields of their profiles."""
    answer = experiment.query(contexts=chosen, profiles=profiles_exp, metrics=metric)
    frame = answer.to_pandas()[["profile_id", "context_id", "value", "context"]]
    names = {name: normal_name(str(name)) for name in frame["context"].unique()}
    frame["function"] = frame["context"].map(names).astype("object")
    if fields:
        identities = identities_of(experiment)
        for field in fields:
            frame[field] = [identities.get(id_, {}).get(field) for id_ in frame["profile_id"]]
    return frame.drop(columns="context")


def imbalance(experiment: Experiment, chosen: str, profiles_exp: str, metric: str) -> Any:
    """Mean, mean / max and variance by function."""
    frame = _values(experiment, chosen, profiles_exp, metric)
    grouped = frame.groupby("function")["value"]
    table = grouped.agg(["mean", "max", "var"]).rename(columns={"var": "variance"})
    table.insert(1, "mean / max", table["mean"] / table["max"])
    table = table.drop(columns="max")
    return table.sort_values(["variance", "mean / max"], ascending=False)


def idleness(experiment: Experiment, chosen: str) -> Any:
    """Time of GPU operations by rank, and the rest of the time."""
    try:
        answer = experiment.query(
            contexts="application", profiles=chosen, metrics="time (i) | gpuop (i)"
        )
    except MisuseError as error:
        # Without GPUs there is no such metric.
        raise ReadError(error.message, error.hint) from None
    frame = answer.to_pandas()[["profile_id", "metric", "value"]]
    is_gpu = frame["metric"].astype(str).str.upper().str.startswith("GPUOP")
    on_gpu = frame[is_gpu].set_index("profile_id")["value"]
    if not len(on_gpu):
        raise ReadError(f"no profile of {chosen} has GPU operations", "gpu_idleness is about ranks")
    unit = experiment.tree.unit
    if unit != "s":
        raise ReadError(f"the time of threads is in {unit or 'cycles'}, and that of GPUs in seconds")
    table = on_gpu.to_frame("GPU total time")
    whole = frame[~is_gpu].set_index("profile_id")["value"]
    table["GPU idle time"] = whole.reindex(table.index) - table["GPU total time"]
    identities = identities_of(experiment)
    table["rank"] = [identities.get(id_, {}).get("rank") for id_ in table.index]
    return table.groupby("rank").sum().sort_values("GPU total time", ascending=False)


def report(experiment: Experiment, verbose: bool) -> Any:
    """Time by class or routine."""
    pandas = import_library("pandas", "pandas")
    answer = experiment.report()
    unit = _time_unit(experiment)
    total = sum(cast("float", cost) for cost in answer.categories["cost"])
    rows: list[tuple[str, str, float]] = []
    source = answer.routines if verbose else answer.categories
    for row in source.to_dicts():
        if row["group"] not in ("MPI", "OpenMP"):
            continue
        known = (str(row["group"]), str(row["class"]))
        name = str(row["routine"]) if verbose else _CLASSES.get(known, " ".join(known))
        rows.append((f"CPU ({unit})", name, cast("float", row["cost"])))
    rows.sort(key=lambda row: -row[2])
    cpu = [(f"CPU ({unit})", "CPU total", total), *rows]
    table = [(major, minor, time, round(100 * time / total, 2)) for major, minor, time in cpu]
    gpu = answer.gpu.to_dicts()
    times = [row for row in gpu if row["unit"] == "s"]
    whole = max((cast("float", row["value"]) for row in times), default=0.0)
    for row in sorted(times, key=lambda row: -cast("float", row["value"])):
        time = cast("float", row["value"])
        name = "GPU total" if row["metric"] == "GPUOP" else str(row["what"])
        table.append(("GPU (sec)", name, time, round(100 * time / whole, 2)))
    frame = pandas.DataFrame(table, columns=["MAJOR", "MINOR", "TIME", "PERCENTAGE (%)"])
    return frame.groupby(["MAJOR", "MINOR"], sort=False).sum()


def drawn(
    experiment: Experiment,
    metric: str,
    ids: list[int] | None,
    max_depth: int | None,
    with_types: bool,
) -> Iterator[str]:
    """The lines of a tree."""
    is_time = metric == "time"
    tree = experiment.tree if is_time else Tree(experiment, experiment.tree_table(metrics=[metric]))
    kept: set[int] | None = None
    if ids is not None:
        kept = set()
        for id_ in ids:
            kept |= {id_, *(context.id for context in tree[id_].ancestors)}

    def shown(context: Context) -> bool:
        return (kept is None or context.id in kept) and (
            max_depth is None or context.depth <= max_depth
        )

    for root in tree.roots:
        for context in root.walk():
            if shown(context):
                name = normal_name(context.name) if context.kind == "function" else context.name
                kind = f"{context.kind}: " if with_types else ""
                yield f"{'    ' * context.depth}{kind}{context.inclusive or 0:.2e}: {name}"
