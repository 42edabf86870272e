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
  PyTorch's profiler writes; methods that need it raise :class:`NotThereError` where a trace has none.
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

What is not there raises :class:`NotThereError`, which says what to ask instead: everything about
bandwidths of copies and counters, which are arguments of events that the engine does not keep, and
what writes changed traces.
"""

from __future__ import annotations

import gzip
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from .._errors import MisuseError, OpenError, ParallaxError
from .._open import Experiment
from .._open import open as _open
from .._table import import_library
from ._kernels import (
    COMMUNICATION,
    COMPUTATION,
    MEMORY,
    kernel_type,
    merged,
    time_by_running,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_RANK = re.compile(r'"rank":\s*(\d+)')
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
_KERNELS = ("kernel", "gpu_memset", "memset", "gpu_memcpy", "memcpy", "mtia_ccp_events")
_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC")
_COPIES = ("cudaMemcpyAsync", "cudaMemsetAsync")
_QUEUED = (
    *_LAUNCHES,
    *_COPIES,
    "cuLaunchKernel",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemcpyAsync",
    "hipMemsetAsync",
    "hipMemcpyWithStream",
)
_WAITS = ("host_wait", "kernel_wait", "other")
_EVERYTHING = 2**31


class NotThereError(ParallaxError, NotImplementedError):
    """A part of HTA that Parallax does not have, or that a trace does not allow."""


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
        files = _files(trace_files, Path(trace_dir))
        if not files:
            raise OpenError(f"there is no trace in {trace_dir}", "traces end in .json or .json.gz")
        self._traces = {
            rank: _Trace(pandas, path, bool(include_last_profiler_step), whole_microseconds)
            for rank, path in sorted(files.items())
        }

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
            whole = merged(_spans(operations))
            if not whole:
                raise NotThereError(f"rank {rank} has no GPU operations")
            kernel_time = whole[-1][1] - whole[0][0]
            idle = kernel_time - total(whole)
            kinds = operations["kernel_type"]
            compute = total(merged(_spans(operations[kinds == COMPUTATION])))
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
        wanted = _LAUNCHES + (_COPIES if include_memory_events else ())
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
            launched = launched[launched["launch_name"].isin(_QUEUED)]
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

    def get_memory_bw_summary(self, ranks: Sequence[int] | None = None) -> NoReturn:
        """Not there: raises."""
        _absent("get_memory_bw_summary", _BANDWIDTH)

    def get_memory_bw_time_series(self, ranks: Sequence[int] | None = None) -> NoReturn:
        """Not there: raises."""
        _absent("get_memory_bw_time_series", _BANDWIDTH)

    def get_cupti_counter_data_with_operators(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("get_cupti_counter_data_with_operators", "Experiment.gpu_stalls has GPU counters")

    def get_gpu_kernels_with_user_annotations(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("get_gpu_kernels_with_user_annotations", "Experiment.calls has calls by track")

    def get_frequent_cuda_kernel_sequences(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("get_frequent_cuda_kernel_sequences", "Experiment.find has kernels by name")

    def get_aten_op_kernels_and_delay(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("get_aten_op_kernels_and_delay", "Experiment.links has launches and what they start")

    def get_potential_stragglers(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("get_potential_stragglers", "Experiment.over_time(what='lateness') has late locations")

    def critical_path_analysis(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("critical_path_analysis", "use Experiment.critical_path")

    def overlay_critical_path_analysis(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("overlay_critical_path_analysis", "use Experiment.critical_path")

    def generate_trace_with_counters(self, *_: Any, **__: Any) -> NoReturn:
        """Not there: raises."""
        _absent("generate_trace_with_counters", "get_queue_length_time_series has the values")

    def _of(self, rank: int) -> _Trace:
        if rank not in self._traces:
            known = ", ".join(str(one) for one in self._traces)
            raise MisuseError(f"there is no trace of rank {rank}", f"there are ranks {known}")
        return self._traces[rank]


_BANDWIDTH = (
    "bandwidths are arguments of events, which the engine does not keep; "
    "get_gpu_kernel_breakdown has the time of copies"
)


def _absent(what: str, instead: str) -> NoReturn:
    raise NotThereError(f"{what} of HTA is not there", instead)


class _Trace:
    """The events of a trace, as the analyses want them; times in microseconds."""

    def __init__(self, pandas: Any, path: str, with_last_step: bool, is_whole: bool) -> None:
        self._pandas = pandas
        opened = _open(path)
        if not isinstance(opened, Experiment):
            raise MisuseError(f"{path} holds several experiments", "name one trace for each rank")
        self.experiment = opened
        timeline = opened.timeline()
        tracks = timeline.tracks
        streams = tracks["gpustream"] if "gpustream" in tracks else [None] * len(tracks)
        groups = [str(name) for name in timeline.groups["name"]]
        functions = list(zip(timeline.functions["name"], timeline.functions["group"], strict=True))
        self._streams: list[int | None] = cast("list[int | None]", streams)
        ranks = tracks["rank"] if "rank" in tracks else [None] * len(tracks)
        self._pids = [-1 if rank is None else rank for rank in ranks]
        self._span = int(timeline.reply["span_ns"]) + 1
        calls = opened.calls(
            tracks=[{"from": 0, "to": len(tracks)}],
            from_ns=0,
            to_ns=self._span,
            max_calls=_EVERYTHING,
        ).calls.to_pandas()
        names = pandas.Series([str(name) for name, _ in functions])
        kinds = pandas.Series([groups[int(cast("int", group))] for _, group in functions])
        function_of = pandas.Series(timeline.contexts["function"])
        function = function_of.iloc[calls["context"]].to_numpy()
        start = calls["start_ns"].to_numpy() / 1e3
        length = (calls["end_ns"] - calls["start_ns"]).to_numpy() / 1e3
        if is_whole:
            start, length = _whole(calls, int(timeline.reply["origin_ns"]))
        events = pandas.DataFrame(
            {
                "track": calls["track"].to_numpy(),
                "at_ns": calls["start_ns"].to_numpy(),
                "ts": start,
                "dur": length,
                "name": names.iloc[function].to_numpy(),
                "group": kinds.iloc[function].to_numpy(),
            }
        )
        stream = pandas.Series([-1 if one is None else int(one) for one in self._streams])
        events["stream"] = stream.iloc[events["track"]].to_numpy()
        self._events = events
        self._links: Any = None
        self.duration = float(events["ts"].max() - events["ts"].min()) if len(events) else 0.0
        self._with_last_step = with_last_step
        self.steps, self._last = self._profiler_steps()
        self._operations: Any = None

    def _profiler_steps(self) -> tuple[list[int], float | None]:
        """The steps that count, and before when a launch must begin to belong to them."""
        events = self._events
        steps = events[events["name"].str.contains("ProfilerStep", regex=False)]
        steps = steps[steps["group"].str.lower() != "gpu_user_annotation"]
        found = {int(match[1]): name for name in steps["name"] if (match := _STEP.match(name))}
        if len(set(steps["name"])) < 2:
            return sorted(found), None
        if self._with_last_step:
            # What begins when the last step ends still counts.
            return sorted(found), float((steps["ts"] + steps["dur"]).max()) + 1e-3
        return sorted(found)[:-1], float(steps["ts"].max())

    @property
    def operations(self) -> Any:
        """What ran on GPUs in the steps that count."""
        if self._operations is None:
            operations = self._events[self._events["stream"] >= 0]
            types = {name: kernel_type(name) for name in operations["name"].unique()}
            operations = operations.assign(kernel_type=operations["name"].map(types))
            if self._last is not None:
                operations = self._with_launches(operations)
                operations = operations[operations["launch_ts"] < self._last]
            self._operations = operations
        return self._operations

    def launched(self) -> Any:
        """The operations with what launched them."""
        if "launch_ts" in self.operations:
            return self.operations
        return self._with_launches(self.operations)

    def annotations(self, group: str) -> Any:
        """Annotations on the CPU or on the GPU."""
        events = self._events
        ours = events[events["group"].str.lower() == group]
        # As there, what begins with the last step or later is left out on the CPU, and annotations
        # of GPUs, which nothing launches, are.
        if self._last is not None:
            ours = ours[ours["ts"] < self._last]
        return ours

    def _with_launches(self, operations: Any) -> Any:
        """Adds by what and when operations were launched."""
        pandas = self._pandas
        found = self.experiment.links(
            from_ns=0, to_ns=self._span, max_links=_EVERYTHING, flows=True
        )
        links = found.links.to_pandas().dropna(subset=["send_ns", "receive_ns"])
        on_gpu = [at for at, stream in enumerate(self._streams) if stream is not None]
        links = links[links["receiver"].isin(on_gpu)]
        if not len(links) and len(operations):
            raise NotThereError(
                "the trace does not say what launched GPU operations: it has no arrows (ac2g)",
                "Experiment.calls and Experiment.stats have the operations themselves",
            )
        links = pandas.DataFrame(
            {
                "track": links["receiver"].to_numpy(),
                "at_ns": links["receive_ns"].to_numpy(),
                "correlation": links["tag"].to_numpy().astype("int64"),
                "launch_track": links["sender"].to_numpy(),
                "launch_ns": links["send_ns"].to_numpy(),
            }
        )
        # Operations of one moment are told apart by their order.
        moment = ["track", "at_ns"]
        operations = operations.assign(nth=operations.groupby(moment).cumcount())
        links["nth"] = links.sort_values("correlation").groupby(moment).cumcount()
        joined = operations.merge(links, how="left", on=[*moment, "nth"])
        runtime = self._events[self._events["stream"] < 0]
        # Of several calls that begin with an arrow, the one that can have launched something, or
        # else the longest.
        runtime = runtime.assign(launches=runtime["name"].isin(_QUEUED))
        runtime = runtime.sort_values(["launches", "dur"], kind="stable")
        runtime = runtime.drop_duplicates(moment, keep="last")
        runtime = runtime[["track", "at_ns", "ts", "dur", "name"]]
        names = ("track", "ns", "ts", "dur", "name")
        runtime.columns = [f"launch_{name}" for name in names]
        joined = joined.merge(runtime, how="left", on=["launch_track", "launch_ns"])
        joined["pid"] = pandas.Series(self._pids).iloc[joined["track"]].to_numpy()
        joined["tid"] = joined["stream"]
        return joined

    def by_running(self, kinds: Sequence[str]) -> dict[tuple[str, ...], float]:
        """Time by which kinds of operations run."""
        operations = self.operations
        spans = {
            kind: merged(_spans(operations[operations["kernel_type"] == kind])) for kind in kinds
        }
        return time_by_running(spans)


def _whole(calls: Any, origin_ns: int) -> tuple[Any, Any]:
    """Starts and lengths in whole microseconds, cut as HTA cuts the numbers of the file, which are
    microseconds since 1970 that lie a quarter of a microsecond apart."""
    numpy = import_library("numpy", "pandas")
    origin = origin_ns // 1000
    starts: list[int] = []
    lengths: list[int] = []
    for begin, end in zip(calls["start_ns"].tolist(), calls["end_ns"].tolist(), strict=True):
        start = (origin_ns + int(begin)) / 1000
        first, last = math.ceil(start), math.floor(start + (end - begin) / 1000)
        starts.append(first - origin)
        lengths.append(last - first)
    return numpy.array(starts), numpy.array(lengths)


def _spans(operations: Any) -> Iterable[tuple[float, float]]:
    starts = operations["ts"].to_numpy()
    return zip(starts.tolist(), (starts + operations["dur"].to_numpy()).tolist(), strict=True)


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


def _files(
    given: Mapping[int, str] | Sequence[str] | None, folder: Path
) -> dict[int, str]:
    """The file of each rank."""
    at: Callable[[str], str] = lambda name: str(folder / name)  # noqa: E731
    if given is None:
        names = sorted(path for path in folder.iterdir()) if folder.is_dir() else []
        found = [str(path) for path in names if path.name.endswith((".json", ".json.gz"))]
        return {_rank(path): path for path in found}
    if isinstance(given, (str, os.PathLike)):
        raise MisuseError("trace_files is a dictionary or a list", "write [name] for one file")
    mapping = cast("Any", given)
    if hasattr(mapping, "items"):
        return {int(rank): at(name) for rank, name in mapping.items()}
    return {_rank(at(name)): at(name) for name in mapping}


def _rank(path: str) -> int:
    """The rank that a trace says it is of, 0 where it says none."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        for line in cast("Any", file):
            match = _RANK.search(line.decode("utf-8", "replace"))
            if match:
                return int(match[1])
    return 0
