"""Conversions to and from Hatchet, Thicket and Extra-P, which are imported when they are used."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._errors import MisuseError
from ._table import import_library
from ._tau import write_profiles
from ._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._open import Ensemble, Experiment

class _Nodes:
    """The graph of Hatchet for a tree, with the node of each context."""

    def __init__(self, tree: Tree) -> None:
        self._roots: list[Any] = []
        self._node = import_library("hatchet.node", "hatchet").Node
        self._frame = import_library("hatchet.frame", "hatchet").Frame
        self.tree = tree
        self.nodes: list[Any] = []
        for context in tree:
            made = self._made(context.name, context.kind)
            parent = context.parent
            if parent is None:
                self._roots.append(made)
            else:
                above = self.nodes[parent._row]
                made.add_parent(above)
                above.add_child(made)
            self.nodes.append(made)
        self.of_id: dict[int, Any] = dict(zip(tree.column("context_id"), self.nodes, strict=True))

    def _made(self, name: str, kind: str) -> Any:
        return self._node(self._frame(name=name, type=kind))

    def of(self, id_: int, name: str) -> Any:
        """The node of a context; one at the top for what is not in the tree: the trace has samples
        of contexts to which profiles give no value."""
        if id_ not in self.of_id:
            self.of_id[id_] = self._made(name, "function")
            self._roots.append(self.of_id[id_])
        return self.of_id[id_]

    def graph(self) -> Any:
        """The graph of all nodes that there are now."""
        graph = import_library("hatchet.graph", "hatchet").Graph(self._roots)
        graph.enumerate_traverse()
        return graph

    def facts(self) -> dict[str, list[Any]]:
        """The columns that say what contexts are."""
        column = self.tree.column
        return {
            "name": [name or "" for name in column("name")],
            "type": [kind or "" for kind in column("kind")],
            "file": [file or "" for file in column("file")],
            "line": column("line"),
            "module": [module or "" for module in column("module")],
            "context_id": column("context_id"),
        }


def to_hatchet(experiment: Experiment, by_location: bool, choice: dict[str, Any]) -> Any:
    """See :meth:`Experiment.to_hatchet`."""
    hatchet = import_library("hatchet", "hatchet")
    pandas = import_library("pandas", "pandas")
    answer = experiment.tree_table(**choice)
    costs = answer.reply["costs"]
    made = _Nodes(Tree(experiment, answer))
    inclusive = [f"{cost['metric']} (inc)" for cost in costs]
    exclusive = [cost["metric"] for cost in costs]
    index = ["node"]
    facts = made.facts()
    if by_location:
        index, columns = _by_location(experiment, made, exclusive, choice)
        rows = columns.pop("row")
        columns = {name: [values[row] for row in rows] for name, values in facts.items()} | columns
        columns["node"] = [made.nodes[row] for row in rows]
    else:
        columns: dict[str, Any] = {**facts, "node": made.nodes}
        for at in range(len(costs)):
            columns[exclusive[at]] = _numbers(made.tree.column(f"exclusive:{at}"))
            columns[inclusive[at]] = _numbers(made.tree.column(f"inclusive:{at}"))
    graph = made.graph()
    frame = pandas.DataFrame(columns).set_index(index)
    units = {cost["metric"]: cost["unit"] for cost in costs}
    metadata = {
        "title": experiment.title,
        "path": experiment.path,
        "format": experiment.format,
        "units": units,
    }
    return hatchet.GraphFrame(
        graph, frame, exclusive, inclusive, default_metric=exclusive[0], metadata=metadata
    )


def _numbers(values: list[Any]) -> list[float]:
    return [0.0 if value is None else value for value in values]


def _by_location(
    experiment: Experiment, made: _Nodes, metrics: list[str], choice: dict[str, Any]
) -> tuple[list[str], dict[str, list[Any]]]:
    """Values of all contexts at all locations, and what the rows are indexed by."""
    locations = experiment.stacks(
        metric=metrics[0], profiles=choice.get("profiles"), helpers=choice.get("helpers", False)
    ).locations
    ids = cast("list[int]", locations["location"])
    kinds = [name for name in ("rank", "thread") if name in locations]
    kinds = [name for name in kinds if all(value is not None for value in locations[name])]
    keys = list(zip(*(locations[name] for name in kinds), strict=True))
    if not kinds or len(set(keys)) < len(keys):
        kinds, keys = ["profile"], [(id_,) for id_ in ids]
    number, rows = len(ids), len(made.nodes)
    columns: dict[str, list[Any]] = {"row": [row for row in range(rows) for _ in ids]}
    for at, kind in enumerate(kinds):
        columns[kind] = [key[at] for _ in range(rows) for key in keys]
    starts = {id_: row * number for row, id_ in enumerate(made.tree.column("context_id"))}
    for metric in metrics:
        columns[metric] = [0.0] * (rows * number)
        columns[f"{metric} (inc)"] = [0.0] * (rows * number)
    for place, id_ in enumerate(ids):
        # What is cheap is decided once, for all locations together.
        own: dict[str, Any] = {**choice, "profiles": f"profile({id_})", "below_percent": None}
        found = experiment.tree_table(**own).rows
        at_rows = [starts.get(cast("int", context)) for context in found["context_id"]]
        for at, metric in enumerate(metrics):
            for name, column in ((metric, "exclusive"), (f"{metric} (inc)", "inclusive")):
                values = columns[name]
                for start, value in zip(at_rows, found[f"{column}:{at}"], strict=True):
                    if start is not None:
                        values[start + place] = cast("float", value or 0.0)
    return ["node", *kinds], columns


def from_hatchet(frame: Any, metrics: Sequence[str] | None, seconds: float) -> Experiment:
    """See :func:`parallax.from_hatchet`."""
    from ._open import Experiment, open

    folder = tempfile.TemporaryDirectory(prefix="parallax-hatchet-", ignore_cleanup_errors=True)
    # Files are read whole when they are opened, so that the folder may go then.
    with folder:
        write_profiles(frame, Path(folder.name), metrics, seconds)
        opened = open(folder.name)
    if not isinstance(opened, Experiment):
        raise MisuseError("the frame holds several experiments", "convert one profile at a time")
    # The files are gone.
    opened._made = None
    return opened


def to_thicket(experiments: Sequence[Experiment], facts: list[dict[str, Any]], choice: Any) -> Any:
    """A Thicket with a profile for each experiment."""
    thicket = import_library("thicket", "thicket").Thicket
    parts: list[Any] = []
    for at, experiment in enumerate(experiments):
        frame = to_hatchet(experiment, False, choice)
        frame.metadata = {**frame.metadata, **facts[at]}
        frame.metadata.pop("units")
        # What is opened twice must not be one profile.
        parts.append(thicket.thicketize_graphframe(frame, f"{experiment.path}#{at}"))
    if len(parts) == 1:
        return parts[0]
    return thicket.concat_thickets(parts, disable_tqdm=True)


def to_thicket_of_iterations(experiment: Experiment, choice: dict[str, Any]) -> Any:
    """A Thicket by node, profile and iteration: what the trace says of each location."""
    thicket = import_library("thicket", "thicket").Thicket
    pandas = import_library("pandas", "pandas")
    asked: dict[str, Any] = {**choice, "cells": "all"}
    answer = experiment.iterations(**asked)
    made = _Nodes(Tree(experiment, experiment.tree_table()))
    hashes: dict[Any, Any] = {}
    columns: dict[str, list[Any]] = {"node": [], "profile": [], "iteration": [], "time": []}
    names: list[Any] = []
    cells = answer.cells
    read = ("iteration", "location", "context_id", "context", "time_s")
    for iteration, location, id_, context, seconds in zip(
        *(cells[column] for column in read), strict=True
    ):
        node = made.of(cast("int", id_), str(context))
        if location not in hashes:
            hashes[location] = thicket.profile_hasher(str(location))
        columns["node"].append(node)
        columns["profile"].append(hashes[location])
        columns["iteration"].append(iteration)
        columns["time"].append(seconds)
        names.append(node.frame["name"])
    graph = made.graph()
    frame = pandas.DataFrame({**columns, "name": names})
    frame = frame.set_index(["node", "profile", "iteration"]).sort_index()
    rows = {
        number: {"location": location, "title": experiment.title, "path": experiment.path}
        for location, number in hashes.items()
    }
    metadata = pandas.DataFrame.from_dict(rows, orient="index")
    metadata.index.set_names("profile", inplace=True)
    return thicket(
        graph=graph,
        dataframe=frame,
        exc_metrics=["time"],
        inc_metrics=[],
        default_metric="time",
        metadata=metadata,
        profile=list(hashes.values()),
        profile_mapping={number: str(location) for location, number in hashes.items()},
    )


def to_extrap(ensemble: Ensemble, metric: str | None, statistic: str) -> Any:
    """See :meth:`Ensemble.to_extrap`."""
    entities = {
        name: getattr(import_library(f"extrap.entities.{module}", "extrap"), name)
        for module, name in (
            ("experiment", "Experiment"),
            ("parameter", "Parameter"),
            ("coordinate", "Coordinate"),
            ("callpath", "Callpath"),
            ("metric", "Metric"),
            ("measurement", "Measurement"),
        )
    }
    first = ensemble.scaling(metric=metric, statistic=cast("Any", statistic))
    parameters = first.reply["parameters"]
    for parameter in parameters:
        if any(number is None for number in parameter["numbers"]) or not parameter["numbers"]:
            raise MisuseError(
                f"the parameter `{parameter['name']}` is no number, and Extra-P needs numbers",
                "Ensemble.models takes numbers inside labels: numbers=['NAME=REGEX']",
            )
    cores = [float(number) for number in first.reply["cores"]]
    at_cores = next(
        (at for at, one in enumerate(parameters) if sorted(one["numbers"]) == sorted(cores)), None
    )
    if at_cores is None:
        raise MisuseError("the ensemble has no parameter that is the number of cores")
    others = [one for at, one in enumerate(parameters) if at != at_cores]
    made = entities["Experiment"]()
    for parameter in parameters:
        made.add_parameter(entities["Parameter"](parameter["name"]))
    measured = entities["Metric"](first.reply["metrics"][0] if metric is None else metric)
    made.add_metric(measured)
    callpaths: dict[str, Any] = {}
    choices = [list(zip(one["values"], one["numbers"], strict=True)) for one in others]
    for chosen in itertools.product(*choices):
        fixed = [(one["name"], value) for one, (value, _) in zip(others, chosen, strict=True)]
        answer = ensemble.scaling(metric=metric, statistic=cast("Any", statistic), fixed=fixed)
        regions, times = answer.reply["regions"], answer.cells["time"]
        here = [float(number) for number in answer.reply["cores"]]
        if len(times) != len(regions) * len(here):
            raise MisuseError("the ensemble has inputs that are no parameters")
        for row, time in enumerate(times):
            if time is None:
                continue
            region, core = regions[row // len(here)], here[row % len(here)]
            numbers = [float(number) for _, number in chosen]
            numbers.insert(at_cores, core)
            point = entities["Coordinate"](*numbers)
            if point not in made.coordinates:
                made.add_coordinate(point)
            path = region["path"].replace(" > ", "->") or region["name"]
            if path not in callpaths:
                callpaths[path] = entities["Callpath"](path)
                made.add_callpath(callpaths[path])
            made.add_measurement(
                entities["Measurement"](point, callpaths[path], measured, [float(cast("float", time))])
            )
    made.call_tree = import_library("extrap.fileio.io_helper", "extrap").create_call_tree(
        made.callpaths
    )
    return made


def from_extrap(experiment: Any) -> Ensemble:
    """See :func:`parallax.from_extrap`."""
    from ._open import Ensemble, open

    written = import_library("extrap.fileio.experiment_io", "extrap")
    with tempfile.TemporaryDirectory(prefix="parallax-extrap-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "measurements.extra-p"
        written.write_experiment(experiment, str(path))
        opened = open(path)
    if not isinstance(opened, Ensemble):
        raise MisuseError("what Extra-P wrote is no ensemble")
    opened._made = None
    return opened
