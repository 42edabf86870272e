"""The events of a trace file by their position in it, as HTA counts them; changed copies of traces.

Most analyses ask the engine. What names events by their position in the file, or writes a changed
copy of it, reads the file itself: the engine orders calls by time and keeps no position.
"""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING, Any, cast

from .._errors import MisuseError
from .._table import import_library

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._traces import Trace

_ABSENT = -1
# Arguments of events that become columns: their names there, and what stands where an event has none.
_ARGUMENTS = {
    "stream": ("stream", _ABSENT),
    "correlation": ("correlation", _ABSENT),
    "bytes": ("bytes", _ABSENT),
    "memory_bw_gbps": ("memory bandwidth (GB/s)", 0.0),
    "wait_on_stream": ("wait_on_stream", _ABSENT),
    "wait_on_cuda_event_record_corr_id": ("wait_on_cuda_event_record_corr_id", _ABSENT),
    "input_dims": ("Input Dims", "-1"),
    "input_type": ("Input type", "-1"),
    "input_strides": ("Input Strides", "-1"),
    "external_id": ("External id", _ABSENT),
}
_NUMBERS = (
    "stream",
    "correlation",
    "bytes",
    "wait_on_stream",
    "wait_on_cuda_event_record_corr_id",
    "external_id",
)
COUNTERS = "cuda_profiler_range"
# Waits of the device that are on no stream.
DEVICE_WAITS = ("Event Sync", "Context Sync")


class SymbolTable:
    """Names and categories of events, which frames have as numbers."""

    def __init__(self) -> None:
        self.sym_table: list[str] = []
        self.sym_index: dict[str, int] = {}

    def get_sym_table(self) -> list[str]:
        """The texts by number."""
        return self.sym_table

    def get_sym_id_map(self) -> dict[str, int]:
        """The numbers by text."""
        return self.sym_index

    def codes(self, texts: Iterable[str]) -> list[int]:
        """The numbers of some texts, which are added if they are new."""
        found: list[int] = []
        for text in texts:
            if text not in self.sym_index:
                self.sym_index[text] = len(self.sym_table)
                self.sym_table.append(text)
            found.append(self.sym_index[text])
        return found


class TraceEvents:
    """The events of the traces of a job, by rank, as HTA's ``TraceAnalysis.t`` has them."""

    def __init__(self, traces: Mapping[int, Trace], is_whole: bool) -> None:
        self._traces = traces
        self._is_whole = is_whole
        self._frames: dict[int, Any] = {}
        self.symbol_table = SymbolTable()
        self.trace_files = {rank: trace.path for rank, trace in traces.items()}

    def get_ranks(self) -> list[int]:
        """The ranks that have a trace."""
        return list(self._traces)

    def get_trace(self, rank: int) -> Any:
        """The events of a rank, in the order of the file, which is read when they are first asked for;
        times in microseconds since the first event of any rank."""
        trace = self._traces.get(rank)
        if trace is None:
            known = ", ".join(str(one) for one in self._traces)
            raise MisuseError(f"there is no trace of rank {rank}", f"there are ranks {known}")
        if rank not in self._frames:
            frame = read_frame(trace.path, self.symbol_table, self._is_whole)
            since = trace.begins - min(one.begins for one in self._traces.values())
            if since:
                frame["ts"] += since
                frame["end"] += since
            self._frames[rank] = trace.in_counted_steps(frame, self.symbol_table)
        return self._frames[rank]


def read_content(path: str) -> dict[str, Any]:
    """The whole file, as it is.

    Raises
    ------
    MisuseError
        The file has no list of events.
    """
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        content = json.loads(cast("Any", file).read())
    if isinstance(content, list):
        return {"traceEvents": content}
    events = cast("dict[str, Any]", content).get("traceEvents") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise MisuseError(f"{path} has no list traceEvents", "name a trace of PyTorch's profiler")
    return cast("dict[str, Any]", content)


def write_content(path: str, content: Mapping[str, Any]) -> None:
    """Writes a trace, compressed where the name says so."""
    if path.endswith(".gz"):
        with gzip.open(path, "wt", compresslevel=6) as file:
            json.dump(content, file)
    else:
        with open(path, "w") as file:
            json.dump(content, file)


def lasting(events: Iterable[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """The events that last, with their positions; without the profiler's own span over them all."""
    return [
        (at, event)
        for at, event in enumerate(events)
        if event.get("dur") is not None and event.get("cat") not in (None, "Trace")
    ]


def earliest(content: Mapping[str, Any]) -> float:
    """When the first event that lasts begins, in the microseconds of the file."""
    return min((event["ts"] for _, event in lasting(content["traceEvents"])), default=0)


def read_frame(path: str, symbols: SymbolTable, is_whole: bool) -> Any:
    """The events that last, with HTA's columns and the position in the file as ``index``.

    Times are microseconds since the earliest of them.
    """
    pandas = import_library("pandas", "pandas")
    kept = lasting(read_content(path)["traceEvents"])
    arguments: list[dict[str, Any]] = [
        event["args"] if isinstance(event.get("args"), dict) else {} for _, event in kept
    ]
    starts = [event["ts"] for _, event in kept]
    lengths = [event["dur"] for _, event in kept]
    if is_whole and any(isinstance(start, float) for start in starts):
        first = [math.ceil(start) for start in starts]
        ends = zip(starts, lengths, strict=True)
        lengths = [math.floor(start + length) for start, length in ends]
        lengths = [end - start for end, start in zip(lengths, first, strict=True)]
        starts = first
    origin = min(starts, default=0)
    columns: dict[str, Any] = {
        "index": [at for at, _ in kept],
        "cat": symbols.codes(event["cat"] for _, event in kept),
        "name": symbols.codes(event.get("name", "") for _, event in kept),
        "pid": [event.get("pid", _ABSENT) for _, event in kept],
        "tid": [event.get("tid", _ABSENT) for _, event in kept],
        # Subtracted before they become floating point numbers, which have too few digits.
        "ts": [start - origin for start in starts],
        "dur": lengths,
    }
    for column, (name, absent) in _ARGUMENTS.items():
        values = [one.get(name, absent) for one in arguments]
        columns[column] = [_number(value) for value in values] if column in _NUMBERS else values
    counters = [
        one for one, (_, event) in zip(arguments, kept, strict=True) if event["cat"] == COUNTERS
    ]
    for counter in sorted({name for one in counters for name in one}):
        columns.setdefault(counter, [one.get(counter, _ABSENT) for one in arguments])
    frame = pandas.DataFrame(columns, index=pandas.Index(columns["index"]))
    frame["end"] = frame["ts"] + frame["dur"]
    frame["index_correlation"] = _partners(frame, symbols)
    frame["iteration"] = _iterations(frame, symbols)
    return frame


def _number(value: Any) -> int:
    """A number that some traces have as a text."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return _ABSENT


def is_of_gpu(frame: Any, symbols: SymbolTable) -> Any:
    """Which events are operations of a GPU, or waits for one that the GPU has recorded."""
    waits = [symbols.sym_index[name] for name in DEVICE_WAITS if name in symbols.sym_index]
    on_stream = (frame["stream"] >= 0) & (frame["correlation"] >= 0)
    return on_stream | frame["name"].isin(waits)


def _partners(frame: Any, symbols: SymbolTable) -> Any:
    """The event with the same correlation on the other side; 0 where there is none, and -1 where an
    event has no correlation."""
    partners = frame["correlation"].clip(upper=0).to_numpy().copy()
    is_gpu = is_of_gpu(frame, symbols).to_numpy()
    has = (frame["correlation"] != _ABSENT).to_numpy()
    rows = zip(frame["correlation"].tolist(), is_gpu.tolist(), has.tolist(), strict=True)
    sides: tuple[dict[int, int], dict[int, int]] = ({}, {})
    known = list(rows)
    for at, (correlation, gpu, is_known) in enumerate(known):
        if is_known:
            sides[gpu][correlation] = at
    positions = frame["index"].to_numpy()
    for at, (correlation, gpu, is_known) in enumerate(known):
        other = sides[not gpu].get(correlation) if is_known else None
        if other is not None:
            partners[at] = positions[other]
    return partners


def _iterations(frame: Any, symbols: SymbolTable) -> Any:
    """The step of the profiler that an event, or what launched it, begins in; -1 where none is."""
    iterations = frame["index"] * 0 - 1
    on_cpu = frame["stream"] < 0
    for text, code in list(symbols.sym_index.items()):
        number = text.partition("#")[2].strip()
        if not text.startswith("ProfilerStep") or not number.isdigit():
            continue
        for step in frame[(frame["name"] == code) & on_cpu].itertuples():
            inside = (frame["ts"] >= step.ts) & (frame["ts"] < step.end)
            iterations[on_cpu & inside] = int(number)
    launched = frame[(frame["stream"] >= 0) & (frame["index_correlation"] > 0)]
    iterations[launched.index] = iterations.reindex(launched["index_correlation"]).to_numpy()
    return iterations


def _counted(number: int, one: str) -> str:
    ending = "" if number == 1 else "es" if one.endswith("ch") else "s"
    return f"{number} {one}{ending}"


def short_name(name: str) -> str:
    """A name without arguments, arguments of templates and what it returns."""
    if "<" not in name and "(" not in name or name.startswith(("Memcpy", "Memset", "dma")):
        return name
    kept: list[str] = []
    opens = {">": "<", ")": "("}
    for char in name.replace("->", ""):
        if char not in opens:
            kept.append(char)
        else:
            while kept and kept.pop() != opens[char]:
                pass
    return "".join(kept).rpartition(" ")[2]


def with_names(frame: Any, symbols: SymbolTable, is_short: bool) -> Any:
    """Adds texts next to the numbers, as ``s_name``, ``s_cat`` and ``s_user_annotation``."""
    for column in ("name", "cat", "user_annotation"):
        if column in frame:
            texts: dict[int, str] = {
                code: "" if code < 0 else symbols.sym_table[code] for code in frame[column].unique()
            }
            if is_short:
                texts = {code: short_name(text) for code, text in texts.items()}
            frame[f"s_{column}"] = frame[column].map(texts)
    return frame


def with_annotations(frame: Any, symbols: SymbolTable) -> Any:
    """The GPU operations of a frame, with the shortest annotation of the GPU that lasts at the same
    time on their stream; none where the trace has no annotations of GPUs."""
    category = symbols.sym_index.get("gpu_user_annotation")
    annotations = frame[frame["cat"] == category]
    if not len(annotations):
        return None
    numpy = import_library("numpy", "pandas")
    operations = frame[is_of_gpu(frame, symbols)].reset_index(drop=True)
    chosen = numpy.full(len(operations), -1)
    where = annotations.groupby(["pid", "tid"])
    for place, at in operations.groupby(["pid", "tid"]).indices.items():
        if place not in where.groups:
            continue
        ours = operations.iloc[at].sort_values("ts", kind="stable")
        starts, ends = ours["ts"].to_numpy(), ours["end"].to_numpy()
        latest = numpy.maximum.accumulate(ends)
        # The shortest comes last, and stays.
        by_length = where.get_group(place).sort_values("dur", ascending=False, kind="stable")
        for note in by_length.itertuples():
            # An operation that takes no time belongs to what lasts around it.
            first = int(numpy.searchsorted(latest, note.ts, side="right"))
            last = int(numpy.searchsorted(starts, note.end, side="left"))
            rows = ours.index[first:last][ends[first:last] > note.ts]
            chosen[rows] = note.name
    operations["user_annotation"] = chosen
    return operations


def with_operators(frame: Any, symbols: SymbolTable) -> Any:
    """The counters of kernels with the operators that launched them; none without counters.

    Kernels have no correlation there: the nth that ran is of the nth launch.
    """
    category = symbols.sym_index.get(COUNTERS)
    counted = frame[frame["cat"] == category].sort_values("ts", kind="stable").copy()
    if not len(counted):
        return None
    calls = {code for text, code in symbols.sym_index.items() if text.startswith("cudaLaunchKernel")}
    runtime = symbols.sym_index.get("cuda_runtime")
    launches = frame[(frame["cat"] == runtime) & frame["name"].isin(calls)]
    launches = launches.sort_values("ts", kind="stable")
    if len(launches) != len(counted):
        raise MisuseError(
            f"there are counters of {_counted(len(counted), 'kernel')} and "
            f"{_counted(len(launches), 'launch')}",
            "counters say no launch: they are matched in order, which needs as many of one as of the other",
        )
    operators = frame[frame["cat"] == symbols.sym_index.get("cpu_op")]
    by_thread = operators.sort_values(["ts", "dur"], ascending=[True, False], kind="stable")
    threads = by_thread.groupby(["pid", "tid"])
    stacks: list[list[str]] = [[] for _ in range(len(launches))]
    for place, at in launches.reset_index(drop=True).groupby(["pid", "tid"]).indices.items():
        if place not in threads.groups:
            continue
        calls_here = list(threads.get_group(place)[["ts", "end", "name"]].itertuples(index=False))
        open_calls: list[Any] = []
        following = 0
        for row in at:
            start = launches["ts"].iloc[row]
            while following < len(calls_here) and calls_here[following].ts <= start:
                open_calls.append(calls_here[following])
                following += 1
            open_calls = [call for call in open_calls if call.end > start]
            stacks[row] = [symbols.sym_table[call.name] for call in open_calls]
    counted = counted.reset_index(drop=True)
    counted["index_runtime"] = launches["index"].to_numpy()
    counted["op_stack"] = stacks
    counted["top_level_op"] = [stack[0] if stack else "" for stack in stacks]
    counted["bottom_level_op"] = [stack[-1] if stack else "" for stack in stacks]
    for column in ("name", "cat"):
        counted[column] = [symbols.sym_table[code] for code in counted[column]]
    return counted
