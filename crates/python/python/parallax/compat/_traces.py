"""The events of a trace of PyTorch's profiler, as the analyses of HolisticTraceAnalysis want them."""

from __future__ import annotations

import gzip
import math
import os
import re
from typing import TYPE_CHECKING, Any, cast

from .._errors import MisuseError, ParallaxError
from .._open import Experiment
from .._open import open as _open
from .._table import import_library
from ._kernels import MEMORY, copy_kind, kernel_type, merged, time_by_running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ._trace_file import SymbolTable

_RANK = re.compile(r'"rank":\s*(\d+)')
_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)")
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC")
COPIES = ("cudaMemcpyAsync", "cudaMemsetAsync")
QUEUED = (
    *LAUNCHES,
    *COPIES,
    "cuLaunchKernel",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemcpyAsync",
    "hipMemsetAsync",
    "hipMemcpyWithStream",
)
_BANDWIDTH = r"memory bandwidth \(GB/s\)=([-+.\deE]+)"
_EVERYTHING = 2**31


class NotThereError(ParallaxError, NotImplementedError):
    """A part of HTA that Parallax does not have, or that a trace does not allow."""


class Trace:
    """The events of a trace, as the analyses want them; times in microseconds."""

    def __init__(self, pandas: Any, path: str, with_last_step: bool, is_whole: bool) -> None:
        self._pandas = pandas
        opened = _open(path)
        if not isinstance(opened, Experiment):
            raise MisuseError(f"{path} holds several experiments", "name one trace for each rank")
        self.experiment = opened
        self.path = path
        timeline = opened.timeline()
        tracks = timeline.tracks
        streams = tracks["gpustream"] if "gpustream" in tracks else [None] * len(tracks)
        groups = [str(name) for name in timeline.groups["name"]]
        functions = list(zip(timeline.functions["name"], timeline.functions["group"], strict=True))
        self._streams: list[int | None] = cast("list[int | None]", streams)
        ranks = tracks["rank"] if "rank" in tracks else [None] * len(tracks)
        self._pids = [-1 if rank is None else rank for rank in ranks]
        self._span = int(timeline.reply["span_ns"]) + 1
        self._origin = int(timeline.reply["origin_ns"]) / 1e3
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
                "depth": calls["depth"].to_numpy(),
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
        # The first event, in the microseconds of the other times, and since 1970.
        self.first = float(events["ts"].min()) if len(events) else 0.0
        self.begins = self._origin + self.first
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

    def copies(self) -> Any:
        """Copies in the steps that count, by kind, with what the trace says about their bandwidth."""
        pandas = self._pandas
        operations = self.operations
        copies = operations[operations["kernel_type"] == MEMORY].copy()
        found = self.experiment.find(name="/^Mem(cpy|set)/", arguments=True, max_rows=_EVERYTHING)
        rows = found.rows.to_pandas()
        said = rows["arguments"].astype("str").str.extract(_BANDWIDTH)[0]
        rows = pandas.DataFrame(
            {"track": rows["track"], "at_ns": rows["start_ns"], "memory_bw_gbps": said.astype("float64")}
        ).drop_duplicates(["track", "at_ns"])
        copies = copies.merge(rows, how="left", on=["track", "at_ns"])
        copies["memory_bw_gbps"] = copies["memory_bw_gbps"].fillna(0.0)
        copies["name"] = [copy_kind(str(name)) for name in copies["name"]]
        # As there: what takes no time would end before it begins.
        copies["dur"] = copies["dur"].where(copies["dur"] > 0, 1)
        copies["pid"] = pandas.Series(self._pids).iloc[copies["track"]].to_numpy()
        return copies

    def launched_by(self, part_of_name: str, is_outermost: bool = False) -> Any:
        """GPU operations with the operator that launched them: of those whose names contain a text and
        that last at the launch, on its thread, the innermost one, or the outermost."""
        launched = self.launched().dropna(subset=["launch_ts"])
        launched = launched[launched["launch_name"].isin(QUEUED)]
        events = self._events
        is_operator = events["name"].str.contains(part_of_name, regex=False) & (events["stream"] < 0)
        operators = events[is_operator].sort_values(["ts", "depth"], kind="stable")
        by_track = {int(track): ours for track, ours in operators.groupby("track")}
        chosen: list[tuple[str, float, float] | None] = [None] * len(launched)
        for track, at in launched.reset_index(drop=True).groupby("launch_track").indices.items():
            if int(track) not in by_track:
                continue
            ours = by_track[int(track)]
            calls = list(zip(ours["name"], ours["ts"].tolist(), ours["dur"].tolist(), strict=True))
            starts = launched["launch_ts"].to_numpy()[at]
            ends = starts + launched["launch_dur"].to_numpy()[at]
            open_calls: list[tuple[str, float, float]] = []
            next_call = 0
            for nth in starts.argsort(kind="stable"):
                while next_call < len(calls) and calls[next_call][1] <= starts[nth]:
                    open_calls.append(calls[next_call])
                    next_call += 1
                open_calls = [call for call in open_calls if call[1] + call[2] >= starts[nth]]
                around = [call for call in open_calls if call[1] + call[2] >= ends[nth]]
                if around:
                    chosen[at[nth]] = around[0 if is_outermost else -1]
        has = [one is not None for one in chosen]
        launched = launched[has].copy()
        known = [one for one in chosen if one is not None]
        launched["operator"] = [one[0] for one in known]
        launched["operator_ts"] = [one[1] for one in known]
        launched["operator_dur"] = [one[2] for one in known]
        return launched

    def in_steps(self, steps: Sequence[int]) -> Any:
        """Events with the step of the profiler that they, or what launched them, begin in; times since
        1970, which several ranks have in common."""
        pandas = self._pandas
        events = self._events
        is_step = events["name"].str.contains("ProfilerStep", regex=False)
        is_step &= events["group"].str.lower() != "gpu_user_annotation"
        on_cpu = events[events["stream"] < 0]
        on_cpu = on_cpu.assign(began=on_cpu["ts"])
        operations = self.launched()
        operations = operations.assign(began=operations["launch_ts"])
        columns = ["ts", "dur", "name", "group", "stream", "began"]
        both = pandas.concat([on_cpu[columns], operations[columns]], ignore_index=True)
        both["step"] = -1
        for row in events[is_step].itertuples():
            match = _STEP.match(str(row.name))
            if match and int(match[1]) in steps:
                begin, end = row.ts, row.ts + row.dur
                inside = (both["began"] >= begin) & (both["began"] < end)
                both.loc[inside, "step"] = int(match[1])
        both["ts"] += self._origin
        return both[both["step"] >= 0]

    def annotations(self, group: str) -> Any:
        """Annotations on the CPU or on the GPU."""
        events = self._events
        ours = events[events["group"].str.lower() == group]
        # As there, what begins with the last step or later is left out on the CPU, and annotations
        # of GPUs, which nothing launches, are.
        if self._last is not None:
            ours = ours[ours["ts"] < self._last]
        return ours

    def in_counted_steps(self, frame: Any, symbols: SymbolTable) -> Any:
        """Events of the file that begin in the steps that count, and the GPU operations that were
        launched in them."""
        if self._last is None:
            return frame
        names = frame["name"].map(dict(enumerate(symbols.sym_table)))
        steps = frame[names.str.startswith("ProfilerStep") & (frame["stream"] < 0)]
        annotation = symbols.sym_index.get("gpu_user_annotation", -1)
        steps = steps[steps["cat"] != annotation]
        if not len(steps):
            return frame
        launched = frame["ts"].reindex(frame["index_correlation"]).to_numpy()
        began = frame["ts"].where(frame["stream"] == -1, launched)
        if self._with_last_step:
            # GPUs reach the annotations of the last step after it has ended on the CPU.
            counts = (began <= float(steps["end"].max())) | (frame["cat"] == annotation)
        else:
            counts = began < float(steps["ts"].max())
        return frame[counts].copy()

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
                "the trace does not say what launched GPU operations: it has neither arrows nor correlations",
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
        runtime = runtime.assign(launches=runtime["name"].isin(QUEUED))
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
            kind: merged(spans_of(operations[operations["kernel_type"] == kind])) for kind in kinds
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


def spans_of(operations: Any) -> Iterable[tuple[float, float]]:
    starts = operations["ts"].to_numpy()
    return zip(starts.tolist(), (starts + operations["dur"].to_numpy()).tolist(), strict=True)


def files_by_rank(
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
