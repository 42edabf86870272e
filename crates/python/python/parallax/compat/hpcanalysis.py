"""The queries and analyses of hpcanalysis, with its calls and its frames, answered by Parallax.

>>> from parallax.compat.hpcanalysis import open_db
>>> database = open_db("hpctoolkit-database")
>>> database.query_profile_slices("function(MPI_*)", "rank(0-10)", "time (i)")

What is as in hpcanalysis: ``query_profile_slices`` and ``query_trace_slices``, their arguments and
the index, columns and types of their frames; a list is a union; a range leaves its end out, so that
``rank(0-10)`` are the ranks 0 to 9; a profile, function or metric that does not exist gives an empty
frame, here with a warning that names it.

What is different, because it is a defect there:

- Nothing is kept in memory between queries, and only what is asked for is read. ``thread_count`` is
  taken and not needed.
- A database without ``trace.db`` opens, and so does every other format that Parallax reads.
- Metrics and contexts are looked up before values are read; ``thread_count`` is optional.
- A time window is compared with both ends: samples that touch it are given.
- Names are compared as the query language of Parallax says: dots and brackets in them are no
  regular expression.
- The analyses ``hpcreport``, ``flat_profile``, ``load_imbalance`` and ``to_hatchet``, which raise
  there because they exchange two arguments, work; so does ``hpcreport`` of a database without GPUs.
- ``query_cct`` has the contexts in which something was measured, ``query_metric_descriptions`` the
  metrics that have values; there, both have the others, too. ``name``, ``file_path`` and
  ``module_path`` are texts; numbers of tables are there. ``offset`` is not kept.
- ``flat_profile`` takes exclusive statistics as well as ``time``: values of profiles are those of
  the scope (i).
- ``hpcreport`` has the classes of :meth:`parallax.Experiment.report`, outermost contexts only, so
  that a routine that calls another is not counted twice.
- ``load_imbalance`` compares contexts in the profiles that have values, as there.

What is not there: pruners, which :meth:`parallax.Experiment.query` has as parameters.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, NoReturn, cast

from .._errors import MisuseError, ParallaxError, ParallaxWarning
from .._open import Experiment
from .._open import open as _open
from .._table import Table, import_library
from . import _tables

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from .._tree import Context

_SLICE = ("profile_id", "cct_id", "metric_id")
_NOTHING = "profile(0).rank(0)"  # The summary has no rank.


def open_db(
    dir_path: str | os.PathLike[str],
    cct_pruner: None = None,
    use_cpp_parser: bool = True,
    hpc_dataframe_type: str = "pandas",
    exclude_empty_profiles: bool = True,
    collect_function_index: bool = False,
) -> DataAnalysis:
    """Opens a database.

    ``use_cpp_parser``, ``exclude_empty_profiles`` and ``collect_function_index`` say how hpcanalysis
    reads; they change nothing here, where a profile without values has no rows anyway.

    Parameters
    ----------
    dir_path
        Folder of an HPCToolkit database, or whatever else Parallax opens as one experiment.
    cct_pruner
        Must be none: methods of :class:`parallax.Experiment` have parameters for what to exclude.
    hpc_dataframe_type
        ``pandas``, or ``cudf`` for frames in the memory of a GPU.
    """
    if cct_pruner is not None:
        _absent("a pruner", "Experiment.query(mpi=True, openmp=True, lines=True, below_percent=1)")
    if hpc_dataframe_type not in ("pandas", "cudf"):
        raise MisuseError(
            f"there are no frames of {hpc_dataframe_type!r}", "there are pandas and cudf"
        )
    import_library(hpc_dataframe_type, hpc_dataframe_type)
    opened = _open(dir_path)
    if not isinstance(opened, Experiment):
        raise MisuseError(f"{dir_path} holds several experiments", "name one of them")
    return DataAnalysis(DataQuery(opened, hpc_dataframe_type))


class DataQuery:
    """The queries."""

    def __init__(self, experiment: Experiment, hpc_dataframe_type: str = "pandas") -> None:
        self.experiment = experiment
        """The same database as Parallax has it."""
        self._frames = hpc_dataframe_type

    def query_profile_slices(
        self,
        cct_exp: str | Sequence[str] | Sequence[int],
        profiles_exp: str | Sequence[str],
        metrics_exp: str | Sequence[str],
        thread_count: int | None = None,
    ) -> Any:
        """Values of contexts in profiles.

        Returns a frame with the column ``value``, indexed by ``profile_id``, ``cct_id`` and
        ``metric_id``.
        """
        table = self._rows(
            lambda: self.experiment.query(
                contexts=_contexts(cct_exp),
                profiles=_profiles(profiles_exp),
                metrics=_union(metrics_exp),
                is_raw=True,
            ).rows
        )
        names = {
            "profile_id": "profile_id",
            "context_id": "cct_id",
            "metric_id": "metric_id",
            "value": "value",
        }
        return self._frame(table, names).set_index(list(_SLICE))

    def query_trace_slices(
        self,
        profiles_exp: str | Sequence[str],
        time_frame: tuple[int, int] | None = None,
        thread_count: int | None = None,
    ) -> Any:
        """Samples of traces, from the first: which context was executing, from when until when.

        Returns a frame with the columns ``profile_id``, ``cct_id``, ``start_timestamp`` and
        ``end_timestamp``, in nanoseconds.
        """
        window = None if time_frame is None else f"{time_frame[0]}..{time_frame[1]}"
        table = self._rows(
            lambda: self.experiment.trace(
                profiles=_profiles(profiles_exp), window=window, is_raw=True
            ).rows
        )
        names = {
            "profile_id": "profile_id",
            "context_id": "cct_id",
            "start_ns": "start_timestamp",
            "end_ns": "end_timestamp",
        }
        frame = self._frame(table, names)
        return frame.sort_values("start_timestamp", kind="stable", ignore_index=True)

    def query_cct(self, cct_exp: str | Sequence[str]) -> Any:
        """Contexts, by id: type, parent, children, depth, name and where they are."""
        return self._as_asked(_tables.contexts(self.experiment, self._ids_of(cct_exp)))

    def query_metric_descriptions(self, metrics_exp: str | Sequence[str]) -> Any:
        """Metrics: id, name, aggregation, scope and unit."""
        wanted = None if metrics_exp == "*" else _union(metrics_exp)
        return self._as_asked(_tables.metrics(self.experiment, wanted))

    def query_profile_descriptions(self, profiles_exp: str | Sequence[str]) -> Any:
        """Profiles, by id: what they were measured of, and how many values they have."""
        return self._as_asked(_tables.profiles(self.experiment, _profiles(profiles_exp)))

    def _ids_of(self, cct_exp: str | Sequence[str]) -> list[int] | None:
        """The contexts that an expression chooses; none for all."""
        if cct_exp == "*":
            return None
        table = self._rows(lambda: _Chosen(self.experiment.tree.find(_contexts(cct_exp))))
        return [] if table is None else cast("list[int]", table["context_id"])

    def _as_asked(self, frame: Any) -> Any:
        if self._frames == "cudf":
            return import_library("cudf", "cudf").DataFrame(frame)
        return frame

    def _rows(self, ask: Any) -> Any:
        """The rows, or none where something does not exist."""
        try:
            return ask()
        except MisuseError as error:
            if " has no " not in error.message:
                raise
            warnings.warn(str(error), ParallaxWarning, stacklevel=3)
            return None

    def _frame(self, table: Table | None, names: dict[str, str]) -> Any:
        """A table with the names and types of hpcanalysis."""
        pandas = import_library("pandas", "pandas")
        if table is None:
            frame = pandas.DataFrame({name: [] for name in names})
        else:
            frame = table.to_pandas()
        frame = frame[list(names)].rename(columns=names)
        frame = frame.astype({name: "int64" for name in frame.columns if name != "value"})
        frame = frame.astype({"value": "float64"}) if "value" in frame.columns else frame
        if self._frames == "cudf":
            return import_library("cudf", "cudf").DataFrame(frame)
        return frame


class DataAnalysis:
    """A database, with the queries and the analyses of hpcanalysis."""

    def __init__(self, query_api: DataQuery) -> None:
        self._query_api = query_api
        self.query_profile_slices = query_api.query_profile_slices
        self.query_trace_slices = query_api.query_trace_slices
        self.query_cct = query_api.query_cct
        self.query_metric_descriptions = query_api.query_metric_descriptions
        self.query_profile_descriptions = query_api.query_profile_descriptions

    @property
    def experiment(self) -> Experiment:
        """The same database as Parallax has it."""
        return self._query_api.experiment

    def hpcreport(self, verbose: bool = False) -> Any:
        """The time of MPI, OpenMP and GPUs by class, or by routine.

        Returns a frame with the columns ``TIME`` and ``PERCENTAGE (%)``, indexed by ``MAJOR`` and
        ``MINOR``.
        """
        return _tables.report(self.experiment, verbose)

    def flat_profile(
        self,
        cct_exp: str | Sequence[str],
        profiles_exp: str = "rank",
        include_percentage: bool = True,
    ) -> Any:
        """The time of functions, by the fields that the profile expression names.

        Returns a frame with ``time (sec)`` and ``percentage (%)``, indexed by the fields and
        ``function``; of one function, the column has its name and the index the fields alone.
        """
        self._check_functions("Flat profile", cct_exp)
        return _tables.flat(
            self.experiment,
            _contexts(cct_exp),
            _profiles(profiles_exp),
            _FIELDS.findall(profiles_exp),
            include_percentage,
        )

    def load_imbalance(
        self,
        cct_exp: str | Sequence[str],
        profiles_exp: str | Sequence[str],
        metrics_exp: str = "time (i)",
        tasks_count: int = 1,
    ) -> Any:
        """Mean, mean / max and variance of functions over contexts and profiles."""
        self._check_functions("Load imbalance", cct_exp)
        return _tables.imbalance(
            self.experiment, _contexts(cct_exp), _profiles(profiles_exp), _union(metrics_exp)
        )

    def gpu_idleness(self, ranks: Sequence[int] = ()) -> Any:
        """The time of GPU operations of each rank, and the rest of the time of its threads."""
        chosen = f"rank({','.join(str(rank) for rank in ranks)})" if ranks else "rank"
        return _tables.idleness(self.experiment, chosen)

    def visualize_cct(
        self,
        cct_exp: str | Sequence[str] | None = None,
        metrics_exp: str = "time:sum (i)",
        max_depth: int | None = None,
        text_view: bool = False,
        cct_indices: Sequence[int] = (),
        label_nodes_type: bool = False,
    ) -> None:
        """Prints the tree with what is chosen and all above it."""
        ids = None if cct_exp is None else self._query_api._ids_of(cct_exp)
        if ids is None and cct_indices:
            ids = list(cct_indices)
        metric = metrics_exp.partition(":")[0].partition(" (")[0]
        for line in _tables.drawn(self.experiment, metric, ids, max_depth, label_nodes_type):
            print(line)

    def to_hatchet(self, **choice: Any) -> Any:
        """A graph frame of Hatchet; see :meth:`parallax.Experiment.to_hatchet`."""
        return self.experiment.to_hatchet(**choice)

    def _check_functions(self, what: str, cct_exp: str | Sequence[str]) -> None:
        kinds = set(self.query_cct(cct_exp)["type"])
        if not kinds <= {"function"}:
            raise MisuseError(f"{what} is for functions", "choose contexts by function(...)")


class _Chosen:
    """Contexts that were found, as a table."""

    def __init__(self, found: Sequence[Context]) -> None:
        self._found = found

    def __getitem__(self, name: str) -> list[int]:
        return [context.id for context in self._found]


class NotThereError(ParallaxError, NotImplementedError):
    """A part of hpcanalysis that is not there."""


def _absent(what: str, instead: str) -> NoReturn:
    raise NotThereError(f"{what} of hpcanalysis is not there", f"use {instead}")


def _list(expressions: Any) -> list[Any]:
    if isinstance(expressions, (str, int)):
        return [expressions]
    found = list(expressions)
    if not found:
        raise MisuseError("an expression is needed, and this list is empty")
    return found


def _union(expressions: Any) -> str:
    return " | ".join(f"{one}" for one in _list(expressions))


def _contexts(expressions: Any) -> str:
    """Numbers are ids; texts are expressions, which are the same here."""
    ids = [str(one) for one in _list(expressions) if isinstance(one, int)]
    texts = [one for one in _list(expressions) if not isinstance(one, int)]
    return " | ".join([*texts, *([f"context({','.join(ids)})"] if ids else [])])


def _profiles(expressions: Any) -> str:
    return " | ".join(_with_included_ends(one) for one in _list(expressions))


_FIELDS = re.compile(r"\b(node|rank|thread|core|gpustream|gpucontext|gpudevice)\b")
_FIELD = re.compile(r"(\w+)\s*\(([^()]*)\)")
_RANGE = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*(?::\s*(\d+)\s*)?")


def _with_included_ends(expression: str) -> str:
    """The same expression with ranges that include their end; fields without a number choose
    nothing."""
    is_empty = False

    def field(match: re.Match[str]) -> str:
        nonlocal is_empty
        parts = [_included(part) for part in match[2].split(",")]
        kept = [part for part in parts if part]
        is_empty |= not kept
        return f"{match[1]}({','.join(kept)})"

    text = _FIELD.sub(field, expression)
    return _NOTHING if is_empty else text


def _included(part: str) -> str:
    match = _RANGE.fullmatch(part)
    if match is None:
        return part.strip()
    start, end = int(match[1]), int(match[2])
    if end <= start:
        return ""
    step = f":{match[3]}" if match[3] else ""
    return f"{start}-{end - 1}{step}"
