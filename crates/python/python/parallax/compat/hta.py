"""The analyses of HolisticTraceAnalysis (HTA), with its calls and its frames, answered by Parallax.

>>> from parallax.compat.hta import TraceAnalysis
>>> analysis = TraceAnalysis(trace_dir="traces")
>>> analysis.get_temporal_breakdown(visualize=False)

What is as in HTA 0.5: the names and arguments of the methods, and columns, order, rounding and
categories of their frames. Times are in microseconds. As there, where a trace has several steps of
the profiler, the last of them is omitted, unless ``include_last_profiler_step`` is set.

What is different:

- Calls, GPU operations and what launched them come from the engine. A trace is converted once, into
  the cache.
- Which launch belongs to which GPU operation comes from the arrows of the trace (``ac2g``), which
  PyTorch's profiler writes, and from ``correlation`` where it has none; methods that need it raise
  :class:`NotThereError` where a trace has neither.
- Times have nanoseconds where the trace has them; HTA cuts events to whole microseconds first, which
  makes gaps between them longer. ``whole_microseconds=True`` does so, too.
- Streams are in the order of their numbers. Of events at one moment, launches come before what
  begins, and ends before beginnings: there the order is that of an unstable sort, so that means of
  queue lengths differ a little, and overlaps that last no time may be listed.
- Waiting for a whole device (``Context Sync``) is a call of the CPU and no operation of a GPU.
- ``visualize`` draws nothing: frames are for the plotting library of your choice. Its default is the
  same, and it is ignored.
- ``duration_ratio`` and ``num_kernels`` of :meth:`TraceAnalysis.get_gpu_kernel_breakdown` choose
  kernels as there.
- An operator launched what a call on its own thread launched inside it; there, an operator of any
  thread that lasts at that time may be taken for it.
- :meth:`TraceAnalysis.get_frequent_cuda_kernel_sequences` writes no changed trace.
- :meth:`TraceAnalysis.critical_path_analysis` gives a graph that is no subclass of NetworkX's:
  ``CPGraph.edges`` is a dictionary, and :meth:`CPGraph.to_networkx` makes a ``DiGraph``. Pickle saves
  it. Where a kernel is launched at the very moment at which another begins, the edge into it may be of
  the other kind, launch or kernel before. :meth:`CPGraph.get_critical_path_breakdown` has its edges in
  the order of the path; there, in an accidental one. As in HTA 0.5.0, a gap between kernels counts
  however long it is; later versions leave those of more than 1.5 ms out.
- Files with counters, or with the critical path, have times and weights as exact as the trace has
  them; there they are cut to whole microseconds.
- :meth:`TraceAnalysis.get_potential_stragglers` has HTA's default way to find them, and no other.

:class:`TraceDiff` compares two traces with the calls of ``hta.trace_diff``. What a trace does not allow
raises :class:`NotThereError`, which says what to ask instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import MisuseError, OpenError
from .._table import import_library
from ._changed_traces import TimeSeriesTypes, counters, with_critical_path
from ._critical_path import CPEdge, CPEdgeType, CPGraph, CPNode, clipped
from ._kernels import COMMUNICATION, COMPUTATION, MEMORY, merged, total
from ._trace_diff import DeviceType, LabeledTrace, TraceDiff
from ._trace_file import (
    TraceEvents,
    earliest,
    read_content,
    with_annotations,
    with_names,
    with_operators,
    write_content,
)
from ._traces import (
    COPIES,
    LAUNCHES,
    QUEUED,
    NotThereError,
    Trace,
    files_by_rank,
    spans_of,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from .._open import Experiment

__all__ = [
    "CPEdge",
    "CPEdgeType",
    "CPGraph",
    "CPNode",
    "DeviceType",
    "LabeledTrace",
    "NotThereError",
    "TimeSeriesTypes",
    "TraceAnalysis",
    "TraceDiff",
    "TraceEvents",
]

_KERNELS = ("kernel", "gpu_memset", "memset", "gpu_memcpy", "memcpy", "mtia_ccp_events")
_WAITS = ("host_wait", "kernel_wait", "other")


class TraceAnalysis:
    """Traces of the ranks of a training job, with the analyses of HTA."""

    def __init__(
        self,
        trace_files: Mapping[int, str] | Sequence[str] | None = None,
        trace_dir: str | os.PathLike[str] = "",
        include_last_profiler_step: bool | None = False,
        whole_microseconds: bool = False,
    ) -> None:
        """
        Parameters
        ----------
        trace_files
            Files by rank, or files that say their rank (``distributedInfo``).
        trace_dir
            Folder of the files, or what names in ``trace_files`` are relative to.
        include_last_profiler_step
            Whether the last step counts.
        whole_microseconds
            Whether events are cut to whole microseconds before anything is computed, as HTA does
            unless ``HTA_DISABLE_NS_ROUNDING`` is set.
        """
        pandas = import_library("pandas", "pandas")
        files = files_by_rank(trace_files, Path(trace_dir))
        if not files:
            raise OpenError(f"there is no trace in {trace_dir}", "traces end in .json or .json.gz")
        self._traces = {
            rank: Trace(pandas, path, bool(include_last_profiler_step), whole_microseconds)
            for rank, path in sorted(files.items())
        }
        self._events = TraceEvents(self._traces, whole_microseconds)

    @property
    def experiments(self) -> dict[int, Experiment]:
        """The same traces as Parallax has them, by rank."""
        return {rank: trace.experiment for rank, trace in self._traces.items()}

    def get_temporal_breakdown(self, visualize: bool = True) -> Any:
        """How long GPUs were idle, computed, and did something else, by rank."""
        pandas = import_library("pandas", "pandas")
        rows: list[dict[str, float]] = []
        for rank, trace in self._traces.items():
            operations = trace.operations
            whole = merged(spans_of(operations))
            if not whole:
                raise NotThereError(f"rank {rank} has no GPU operations")
            kernel_time = whole[-1][1] - whole[0][0]
            idle = kernel_time - total(whole)
            kinds = operations["kernel_type"]
            compute = total(merged(spans_of(operations[kinds == COMPUTATION])))
            times = {"idle_time": idle, "compute_time": compute}
            times["non_compute_time"] = kernel_time - compute - idle
            row: dict[str, float] = {"rank": rank}
            row |= {f"{name}(us)": time for name, time in times.items()}
            row["kernel_time(us)"] = kernel_time
            row |= {f"{name}_pctg": round(100 * time / kernel_time, 2) for name, time in times.items()}
            rows.append(row)
        return pandas.DataFrame(rows)

    def get_idle_time_breakdown(
        self,
        ranks: Sequence[int] | None = None,
        streams: Sequence[int] | None = None,
        visualize: bool = True,
        visualize_pctg: bool = True,
        show_idle_interval_stats: bool = False,
        consecutive_kernel_delay: int = 30,
    ) -> tuple[Any, Any]:
        """Why streams were idle: for the host, between kernels, or for something else."""
        pandas = import_library("pandas", "pandas")
        parts: list[Any] = []
        statistics: list[Any] = []
        for rank in ranks or [0]:
            trace = self._of(rank)
            operations = trace.launched()
            is_kernel = operations["group"].str.lower().isin(_KERNELS)
            operations = operations[is_kernel]
            for stream in streams or sorted(operations["stream"].unique()):
                ours = operations[operations["stream"] == stream].sort_values("ts", kind="stable")
                before = (ours["ts"] + ours["dur"]).shift(1)
                idle = ours["ts"] - before
                is_host = ours["launch_ts"] > before
                is_short = ~is_host & (idle < consecutive_kernel_delay)
                category = pandas.Series("other", index=ours.index)
                category[is_host] = "host_wait"
                category[is_short] = "kernel_wait"
                grouped = idle.groupby(
                    pandas.Categorical(category, categories=_WAITS), observed=True
                )
                sums = grouped.sum()
                part = pandas.DataFrame({"idle_category": sums.index.astype(str)})
                part.insert(0, "rank", rank)
                part.insert(1, "stream", stream)
                part["idle_time"] = sums.to_numpy()
                part["idle_time_ratio"] = part["idle_time"] / part["idle_time"].sum()
                parts.append(part)
                if show_idle_interval_stats:
                    described = grouped.describe()
                    described.index = described.index.astype(str)
                    described.index.name = "idle_category"
                    described.insert(0, "rank", rank)
                    described.insert(1, "stream", stream)
                    statistics.append(described)
        frame = pandas.concat(parts, ignore_index=True).round(2)
        return frame, pandas.concat(statistics).round(2) if statistics else None

    def get_comm_comp_overlap(self, visualize: bool = True) -> Any:
        """Which part of the communication time has computation at the same time, by rank."""
        pandas = import_library("pandas", "pandas")
        rows: list[dict[str, float]] = []
        for rank, trace in self._traces.items():
            times = trace.by_running([COMMUNICATION, COMPUTATION])
            communication = sum(time for kinds, time in times.items() if COMMUNICATION in kinds)
            overlap = times.get((COMMUNICATION, COMPUTATION), 0.0)
            share = 100 * overlap / communication if communication else float("nan")
            rows.append({"rank": rank, "comp_comm_overlap_pctg": round(share, 2)})
        return pandas.DataFrame(rows)

    def get_gpu_kernel_breakdown(
        self,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 10,
        include_memory_kernels: bool = True,
        image_renderer: str = "",
    ) -> tuple[Any, Any]:
        """Time by kernel type and what overlaps, and the kernels that take longest."""
        pandas = import_library("pandas", "pandas")
        kinds = [COMPUTATION, COMMUNICATION, *([MEMORY] if include_memory_kernels else [])]
        sums: dict[str, float] = {}
        kernels: list[Any] = []
        for rank, trace in self._traces.items():
            for running, time in trace.by_running(kinds).items():
                name = " overlapping ".join(running)
                sums[name] = sums.get(name, 0.0) + time
            for kind in kinds:
                ours = trace.operations[trace.operations["kernel_type"] == kind]
                part = _longest(ours, duration_ratio, num_kernels)
                part["kernel_type"] = kind
                part["rank"] = rank
                kernels.append(part)
        times = pandas.DataFrame({"kernel_type": list(sums), "sum": list(sums.values())})
        times = times.sort_values(["sum", "kernel_type"], ascending=[False, True], ignore_index=True)
        times["percentage"] = (times["sum"] / times["sum"].sum() * 100).round(1)
        names = {column: f"{column} (us)" for column in ("sum", "mean", "max", "min")}
        frame = pandas.concat([part for part in kernels if len(part)], ignore_index=True)
        frame = frame.sort_values(["kernel_type", "name", "rank"], ignore_index=True)
        return times, frame.rename(columns={**names, "std": "stddev"})

    def get_cuda_kernel_launch_stats(
        self,
        ranks: Sequence[int] | None = None,
        runtime_cutoff: int = 50,
        launch_delay_cutoff: int = 100,
        include_memory_events: bool = True,
        visualize: bool = True,
    ) -> dict[int, Any]:
        """How long each launch took on the CPU and on the GPU, and the delay between."""
        wanted = LAUNCHES + (COPIES if include_memory_events else ())
        result: dict[int, Any] = {}
        for rank in ranks or [0]:
            launched = self._of(rank).launched().dropna(subset=["launch_ts"])
            launched = launched[launched["launch_name"].isin(wanted)].sort_values("launch_ts")
            delay = launched["ts"] - launched["launch_ts"] - launched["launch_dur"]
            frame = launched[["correlation", "launch_dur", "dur"]].copy()
            frame.columns = ["correlation", "cpu_duration", "gpu_duration"]
            frame["launch_delay"] = delay.clip(lower=0)
            result[rank] = frame.reset_index(drop=True)
        return result

    def get_queue_length_time_series(self, ranks: Sequence[int] | None = None) -> dict[int, Any]:
        """How many operations were launched and had not begun, whenever that changed, by stream."""
        pandas = import_library("pandas", "pandas")
        result: dict[int, Any] = {}
        for rank in ranks or [0]:
            launched = self._of(rank).launched().dropna(subset=["launch_ts"])
            launched = launched[launched["launch_name"].isin(QUEUED)]
            if not len(launched):
                continue
            columns = ["pid", "tid", "stream"]
            begun = launched[["ts", *columns]].assign(change=-1)
            asked = launched[["launch_ts", *columns]].rename(columns={"launch_ts": "ts"})
            both = pandas.concat([asked.assign(change=1), begun], ignore_index=True)
            # What is launched and begins at one moment is in the queue first.
            both = both.sort_values(["stream", "ts", "change"], ascending=[True, True, False])
            both["queue_length"] = both.groupby("stream")["change"].cumsum()
            result[rank] = both[["ts", *columns, "queue_length"]].reset_index(drop=True)
        return result

    def get_queue_length_summary_from_time_series(self, queue_length_dict: dict[int, Any]) -> Any:
        """Statistics of such time series, by rank and stream."""
        pandas = import_library("pandas", "pandas")
        parts = [
            frame.assign(rank=rank)[["rank", "stream", "queue_length"]]
            .groupby(["rank", "stream"])
            .describe()
            for rank, frame in queue_length_dict.items()
        ]
        return pandas.concat(parts) if parts else None

    def get_queue_length_summary(self, ranks: Sequence[int] | None = None) -> Any:
        """Statistics of the queue lengths, by rank and stream."""
        return self.get_queue_length_summary_from_time_series(self.get_queue_length_time_series(ranks))

    def get_time_spent_blocked_on_full_queue(
        self, queue_length_dict: dict[int, Any], max_queue_length: int = 1024
    ) -> Any:
        """How long queues were full, by rank and stream."""
        pandas = import_library("pandas", "pandas")
        rows: list[dict[str, Any]] = []
        for rank, frame in queue_length_dict.items():
            for stream, ours in frame.groupby("stream"):
                lasts = ours["ts"].shift(-1) - ours["ts"]
                full = lasts[ours["queue_length"] >= max_queue_length]
                if len(full):
                    rows.append(
                        {
                            "rank": rank,
                            "stream": stream,
                            "duration_at_max_queue_length": full.sum(),
                            "relative_duration_at_max_queue_length": full.sum()
                            / self._of(rank).duration,
                        }
                    )
        columns = ["rank", "stream", "duration_at_max_queue_length"]
        columns.append("relative_duration_at_max_queue_length")
        return pandas.DataFrame(rows, columns=columns)

    def get_gpu_user_annotation_breakdown(
        self,
        use_gpu_annotation: bool = True,
        visualize: bool = True,
        duration_ratio: float = 0.8,
        num_kernels: int = 1000,
        allowlist_patterns: Sequence[str] | None = None,
        image_renderer: str | None = None,
    ) -> Any:
        """The annotations of the program that take longest, by rank; none where there are none."""
        pandas = import_library("pandas", "pandas")
        group = "gpu_user_annotation" if use_gpu_annotation else "user_annotation"
        parts: list[Any] = []
        for rank, trace in self._traces.items():
            ours = trace.annotations(group)
            if len(ours):
                part = _longest(ours, duration_ratio, num_kernels, allowlist_patterns or ())
                part["rank"] = rank
                parts.append(part)
        if not parts:
            return None
        frame = pandas.concat(parts, ignore_index=True)
        frame = frame.sort_values(["rank", "name"], ignore_index=True)
        names = {column: f"{column} (us)" for column in ("sum", "mean", "max", "min")}
        return frame.rename(columns={**names, "std": "stddev"})

    def get_profiler_steps(self) -> list[int]:
        """The numbers of the profiler's steps that count."""
        trace = next(iter(self._traces.values()))
        return sorted(trace.steps)

    def get_memory_bw_time_series(self, ranks: Sequence[int] | None = None) -> dict[int, Any]:
        """The bandwidth of copies whenever it changes, in GB/s, by their kind."""
        pandas = import_library("pandas", "pandas")
        result: dict[int, Any] = {}
        for rank in ranks or [0]:
            copies = self._of(rank).copies()
            if not len(copies):
                continue
            columns = ["ts", "pid", "name", "memory_bw_gbps"]
            ends = copies.assign(
                ts=copies["ts"] + copies["dur"], memory_bw_gbps=-copies["memory_bw_gbps"]
            )
            both = pandas.concat([copies[columns], ends[columns]], ignore_index=True)
            both = both.sort_values(["name", "ts"], kind="stable", ignore_index=True)
            both["memory_bw_gbps"] = both.groupby("name")["memory_bw_gbps"].cumsum()
            result[rank] = both
        return result

    def get_memory_bw_summary(self, ranks: Sequence[int] | None = None) -> Any:
        """Statistics of the bandwidth while something is copied, by rank and kind."""
        pandas = import_library("pandas", "pandas")
        parts = [
            frame[frame["memory_bw_gbps"] > 0]
            .assign(rank=rank)[["rank", "name", "memory_bw_gbps"]]
            .groupby(["rank", "name"])
            .describe()
            for rank, frame in self.get_memory_bw_time_series(ranks).items()
        ]
        return pandas.concat(parts) if parts else None

    def get_aten_op_kernels_and_delay(
        self, ranks: Sequence[int] | None = None, sort_by: Sequence[str] | None = None
    ) -> dict[int, Any]:
        """Which kernels each operator launches, how often, and the delays until they begin."""
        result: dict[int, Any] = {}
        for rank in ranks or [0]:
            launched = self._of(rank).launched_by("aten::").sort_values("launch_ts", kind="stable")
            # Copies are launched otherwise.
            launched = launched[launched["launch_name"].str.contains("LaunchKernel")]
            launched["operator_delay"] = launched["launch_ts"] - launched["operator_ts"]
            launched["runtime_delay"] = launched["ts"] - launched["launch_ts"]
            calls = launched.groupby(["launch_track", "operator", "operator_ts"]).agg(
                kernel_sequence=("name", " -> ".join),
                operator_delay=("operator_delay", "first"),
                runtime_delay=("runtime_delay", "first"),
            )
            frame = (
                calls.reset_index()
                .rename(columns={"operator": "aten_op_name"})
                .groupby(["aten_op_name", "kernel_sequence"])
                .agg(
                    occurrence_count=("runtime_delay", "count"),
                    avg_aten_op_launch_delay=("operator_delay", "mean"),
                    avg_runtime_delay=("runtime_delay", "mean"),
                )
                .round(3)
                .reset_index()
            )
            by = list(sort_by or ["occurrence_count"])
            result[rank] = frame.sort_values(
                by, ascending=False, kind="stable", ignore_index=True
            )
        return result

    def get_frequent_cuda_kernel_sequences(
        self,
        operator_name: str,
        output_dir: str = "",
        min_pattern_len: int = 3,
        rank: int = 0,
        top_k: int = 5,
        visualize: bool = True,
        compress_other_kernels: bool = True,
    ) -> Any:
        """Which sequences of kernels operators launch whose names contain ``operator_name``, and how
        often. No changed trace is written: ``output_dir`` is ignored."""
        if not operator_name:
            raise MisuseError("operator_name is empty", "name an operator, such as aten::linear")
        pandas = import_library("pandas", "pandas")
        launched = self._of(rank).launched_by(operator_name, is_outermost=True)
        launched = launched.sort_values("ts", kind="stable")
        calls = launched.groupby(["launch_track", "operator", "operator_ts"]).agg(
            kernels=("name", list), gpu=("dur", "sum"), cpu=("operator_dur", "first")
        )
        calls = calls[calls["kernels"].map(len) >= min_pattern_len].reset_index()
        names = zip(calls["operator"], calls["kernels"], strict=True)
        calls["pattern"] = ["|".join([operator, *kernels]) for operator, kernels in names]
        grouped = calls.groupby("pattern")
        frame = pandas.DataFrame(
            {
                "count": grouped.size(),
                "GPU kernel duration (us)": grouped["gpu"].sum(),
                "CPU op duration (us)": grouped["cpu"].sum(),
            }
        ).reset_index()
        return frame.sort_values(
            ["count", "pattern"], ascending=[False, True], ignore_index=True
        )

    def get_potential_stragglers(
        self,
        profiler_steps: Sequence[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
    ) -> list[int]:
        """The ranks that most often begin the communication last for which the others wait longest."""
        pandas = import_library("pandas", "pandas")
        known = self.get_profiler_steps()
        steps = known if profiler_steps is None else [one for one in profiler_steps if one in known]
        if not steps:
            raise MisuseError(f"no step of {profiler_steps}", f"there are the steps {known}")
        parts = [trace.in_steps(steps).assign(rank=rank) for rank, trace in self._traces.items()]
        events = pandas.concat(parts, ignore_index=True)
        first = events["ts"].min()
        step_time = ((events["ts"] + events["dur"]).max() - first) / len(steps)
        is_long = (events["stream"] > 0) & (events["dur"] >= 0.01 * step_time)
        is_communication = events["name"].str.startswith("ncclKernel")
        which = ["rank", "stream", "step", "name"]
        lasts = events[is_long & is_communication].sort_values("ts").groupby(which).last()
        lasts = lasts.reset_index()
        differences = lasts.groupby(["stream", "step", "name"])["dur"].std()
        differences = differences.groupby(["stream", "name"]).mean().dropna()
        if not len(differences):
            raise NotThereError(
                "no communication of two ranks lasts a hundredth of a step",
                "give the traces of several ranks; Experiment.waits has late ranks of one trace",
            )
        stream, name = differences.idxmax()
        chosen = lasts[(lasts["stream"] == stream) & (lasts["name"] == name)]
        counts = {rank: 0 for rank in self._traces}
        for _, ours in chosen.groupby("step"):
            late = ours.sort_values(["ts", "rank"], ascending=[False, True])
            for rank in late["rank"].head(max(num_candidates, 1)):
                counts[int(rank)] += 1
        order = sorted((rank for rank in counts if rank in set(chosen["rank"])), key=lambda one: -counts[one])
        return order[: max(num_candidates, 1)]

    @property
    def t(self) -> TraceEvents:
        """The events of the trace files, as HTA has them."""
        return self._events

    def get_cupti_counter_data_with_operators(self, ranks: Sequence[int] | None = None) -> list[Any]:
        """CUPTI's counters of each kernel, with the operators around its launch, outermost first; a
        frame for each rank that has counters.

        Raises
        ------
        MisuseError
            A trace has more kernels with counters than launches, or fewer.
        """
        found = [
            with_operators(self._events.get_trace(rank), self._events.symbol_table)
            for rank in ranks or [0]
        ]
        return [frame for frame in found if frame is not None]

    def get_gpu_kernels_with_user_annotations(
        self,
        rank: int,
        expand_names: bool = True,
        shorten_names: bool = True,
        shortern_names: bool | None = None,
    ) -> Any:
        """GPU operations with the shortest annotation of the GPU that lasts at the same time on their
        stream, -1 where none does; nothing where the trace has no annotations of GPUs.

        HTA 0.5.0 spells ``shorten_names`` with an r; both are accepted.
        """
        is_short = shorten_names if shortern_names is None else shortern_names
        symbols = self._events.symbol_table
        frame = with_annotations(self._events.get_trace(rank), symbols)
        if frame is not None and expand_names:
            frame = with_names(frame, symbols, is_short)
        return frame

    def critical_path_analysis(
        self,
        rank: int,
        annotation: str,
        instance_id: int | tuple[int, int] | None = None,
        data_load_events: Sequence[str] | None = None,
    ) -> tuple[CPGraph, bool] | None:
        """The graph of what depends on what, and whether it has a critical path.

        Parameters
        ----------
        rank
            Rank of the trace.
        annotation
            What begins while annotations last whose names contain this text; everything where it is
            empty.
        instance_id
            Which of these annotations, by number, or the first and the last; the first by default.
        data_load_events
            Regular expressions of names of events that load data.

        Returns
        -------
        The graph and whether there is a path; nothing where no annotation contains the text.
        """
        frame, symbols = self._events.get_trace(rank), self._events.symbol_table
        if annotation:
            codes = [code for text, code in symbols.sym_index.items() if annotation in text]
            around = frame[frame["name"].isin(codes)]
            first, last = instance_id if isinstance(instance_id, tuple) else (instance_id or 0,) * 2
            around = around.iloc[first : last + 1]
            if not len(codes) or not len(around):
                return None
            begin, end = around["ts"].min(), around["end"].max()
        else:
            begin, end = frame["ts"].min(), frame["end"].max()
        part = clipped(frame, symbols, begin, end)
        graph = CPGraph(frame, part, symbols, rank, data_load_events)
        return graph, graph.critical_path()

    def overlay_critical_path_analysis(
        self,
        rank: int,
        critical_path_graph: CPGraph,
        output_dir: str | os.PathLike[str],
        only_show_critical_events: bool = True,
        show_all_edges: bool = False,
    ) -> str:
        """Writes a copy of the trace with the critical path, and gives its path.

        Parameters
        ----------
        rank
            Rank of the trace.
        critical_path_graph
            What :meth:`critical_path_analysis` gave.
        output_dir
            Folder of the copy, made where there is none. The file is named after the trace.
        only_show_critical_events
            Whether other operators and GPU operations are omitted.
        show_all_edges
            Whether all edges become arrows, and not only those of the critical path that are launches
            or dependencies. Not where other events are omitted.
        """
        path = Path(self._of(rank).path)
        content = with_critical_path(
            read_content(str(path)), critical_path_graph, only_show_critical_events, show_all_edges
        )
        folder = Path(output_dir).expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        written = str(folder / f"overlaid_critical_path_{path.name}")
        write_content(written, content)
        return written

    def generate_trace_with_counters(
        self,
        time_series: TimeSeriesTypes | None = None,
        ranks: Sequence[int] | None = None,
        output_suffix: str = "_with_counters",
    ) -> None:
        """Writes a copy of each trace next to it, with queue lengths by stream and the bandwidth of
        copies as counters.

        Parameters
        ----------
        time_series
            Which of the two; both by default.
        ranks
            Ranks; 0 by default.
        output_suffix
            What the names of the copies have before their ending.
        """
        wanted = time_series or TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH
        for rank in ranks or [0]:
            trace = self._of(rank)
            path = Path(trace.path)
            content = read_content(trace.path)
            since = earliest(content) - trace.first
            if TimeSeriesTypes.QUEUE_LENGTH in wanted:
                for frame in self.get_queue_length_time_series([rank]).values():
                    content["traceEvents"] += counters(frame, "Queue Length", "queue_length", since)
            if TimeSeriesTypes.MEMCPY_BANDWIDTH in wanted:
                for frame in self.get_memory_bw_time_series([rank]).values():
                    content["traceEvents"] += counters(frame, "Memcpy BW", "memory_bw_gbps", since)
            stem, dot, ending = path.name.partition(".json")
            write_content(
                str(path.with_name(f"{stem}{output_suffix or '_with_counters'}{dot}{ending}")), content
            )

    def _of(self, rank: int) -> Trace:
        if rank not in self._traces:
            known = ", ".join(str(one) for one in self._traces)
            raise MisuseError(f"there is no trace of rank {rank}", f"there are ranks {known}")
        return self._traces[rank]


def _longest(
    events: Any, duration_ratio: float, num_kernels: int, kept: Sequence[str] = ()
) -> Any:
    """Statistics of the names that take longest; the rest together are ``others``."""
    statistics = ["sum", "max", "min", "mean", "std"]
    frame = events.groupby("name")["dur"].agg(statistics).reset_index()
    frame = frame.sort_values("sum", ascending=False, ignore_index=True).fillna({"std": 0})
    if len(frame) <= num_kernels:
        return frame
    so_far = frame["sum"].cumsum()
    is_other = (so_far > so_far.quantile(duration_ratio)) | (frame.index >= num_kernels)
    for pattern in kept:
        is_other &= ~frame["name"].str.contains(pattern)
    frame.loc[is_other, "name"] = "others"
    frame = frame.groupby("name")["sum"].agg(statistics).reset_index()
    return frame.fillna({"std": 0})
