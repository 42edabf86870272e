"""The critical path of a trace as HTA defines it: the longest path through a graph whose nodes are
the beginnings and ends of operators, runtime calls and GPU operations."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from .._table import import_library
from ._kernels import COMMUNICATION, kernel_type
from ._trace_file import DEVICE_WAITS, with_names
from ._traces import QUEUED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._trace_file import SymbolTable

_OPERATORS = ("cpu_op", "cuda_runtime", "cuda_driver")
# The time of these is waiting, and that of what is waited for is on the path instead.
_BLOCKING = (
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpyAsync",
)
_ADD_LAUNCHES = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"


class CPEdgeType(Enum):
    """What an edge stands for."""

    OPERATOR_KERNEL = "critical_path_operator"
    DEPENDENCY = "critical_path_dependency"
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    SYNC_DEPENDENCY = "critical_path_sync_dependency"


@dataclass
class CPNode:
    """The beginning or the end of an event, at a time in microseconds."""

    idx: int = -1
    ev_idx: int = -1
    ts: float = 0
    is_start: bool = False
    is_blocking: bool = False


@dataclass(frozen=True)
class CPEdge:
    """An edge from one node to another; its weight is time in microseconds, 0 for dependencies."""

    begin: int
    end: int
    weight: float = 0
    type: CPEdgeType = CPEdgeType.OPERATOR_KERNEL


class CPGraph:
    """The graph of a part of a trace, and the longest path through it.

    Events are their positions in the trace file, and nodes are positions in ``node_list``.
    ``edges[begin, end]`` has the ``weight`` of an edge and the edge as ``object``; after weights were
    changed, :meth:`critical_path` finds the path anew.
    """

    def __init__(
        self,
        whole: Any,
        part: Any,
        symbols: SymbolTable,
        rank: int,
        data_load_events: Sequence[str] | None = None,
    ) -> None:
        """``part`` are those events of a trace that get nodes; events whose names match one of the
        regular expressions ``data_load_events`` do, too, and bound the path by data loading."""
        self.rank = rank
        self.data_load_events = list(data_load_events or ())
        self._loads = {
            code
            for text, code in symbols.sym_index.items()
            if any(re.search(pattern, text) for pattern in self.data_load_events)
        }
        self.trace_df = part
        self.full_trace_df = whole
        self.symbol_table = symbols
        self.node_list: list[CPNode] = []
        self.edges: dict[tuple[int, int], dict[str, Any]] = {}
        self.event_to_start_node_map: dict[int, int] = {}
        self.event_to_end_node_map: dict[int, int] = {}
        self.edge_to_event_map: dict[tuple[int, int], int] = {}
        self.critical_path_nodes: list[int] = []
        self.critical_path_events_set: set[int] = set()
        self.critical_path_edges_set: set[CPEdge] = set()
        self._add_nodes()
        self._add_calls()
        self._add_operations()

    @property
    def nodes(self) -> range:
        """All nodes."""
        return range(len(self.node_list))

    def __len__(self) -> int:
        return len(self.node_list)

    def __repr__(self) -> str:
        return (
            f"CPGraph(rank {self.rank}, {len(self.node_list)} nodes, {len(self.edges)} edges, "
            f"{len(self.critical_path_nodes)} nodes on the critical path)"
        )

    def to_networkx(self) -> Any:
        """The same graph as a ``DiGraph`` of NetworkX.

        Raises
        ------
        MissingLibraryError
            NetworkX is not installed.
        """
        networkx = import_library("networkx", "networkx")
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((begin, end, data) for (begin, end), data in self.edges.items())
        return graph

    def get_nodes_for_event(self, ev_id: int) -> tuple[CPNode | None, CPNode | None]:
        """The beginning and the end of an event; none where it has no nodes."""
        start = self.event_to_start_node_map.get(ev_id)
        end = self.event_to_end_node_map.get(ev_id)
        if start is None or end is None:
            return None, None
        return self.node_list[start], self.node_list[end]

    def get_events_for_edge(self, edge: CPEdge) -> tuple[int, int]:
        """The events that an edge goes between."""
        return self.node_list[edge.begin].ev_idx, self.node_list[edge.end].ev_idx

    def get_event_attribution_for_edge(self, edge: CPEdge) -> int | None:
        """The event that the time of an edge belongs to; none for delays of launches and dependencies."""
        return self.edge_to_event_map.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> list[CPEdge]:
        """The edges whose time belongs to an event."""
        edges = self.edge_to_event_map.items()
        return [self.edges[places]["object"] for places, event in edges if event == ev_idx]

    def critical_path(self) -> bool:
        """Finds the longest path, and says whether there is one: not where edges form a circle."""
        before: list[list[tuple[int, float]]] = [[] for _ in self.node_list]
        after: list[list[int]] = [[] for _ in self.node_list]
        for (begin, end), data in self.edges.items():
            before[end].append((begin, data["weight"]))
            after[begin].append(end)
        missing = [len(edges) for edges in before]
        ready = deque(node for node in self.nodes if not missing[node])
        lengths = [0.0] * len(self.node_list)
        previous = [-1] * len(self.node_list)
        last, number = -1, 0
        while ready:
            node = ready.popleft()
            number += 1
            for begin, weight in before[node]:
                length = lengths[begin] + weight
                if previous[node] < 0 or length > lengths[node]:
                    lengths[node], previous[node] = length, begin
            if last < 0 or lengths[node] > lengths[last]:
                last = node
            for end in after[node]:
                missing[end] -= 1
                if not missing[end]:
                    ready.append(end)
        if number < len(self.node_list) or last < 0:
            return False
        path = [last]
        while previous[path[-1]] >= 0:
            path.append(previous[path[-1]])
        path.reverse()
        self.critical_path_nodes = path
        self.critical_path_events_set = {self.node_list[node].ev_idx for node in path}
        self.critical_path_edges_set = set(self._path_edges())
        return True

    def get_critical_path_breakdown(self) -> Any:
        """The edges of the critical path in their order, with the event that each belongs to, and what
        bounds it; none where no path was found."""
        if not self.critical_path_nodes:
            return None
        pandas = import_library("pandas", "pandas")
        edges = self._path_edges()
        frame = pandas.DataFrame(
            {
                "event_idx": [self.get_event_attribution_for_edge(edge) for edge in edges],
                "duration": [edge.weight for edge in edges],
                "type": [edge.type.value for edge in edges],
            }
        )
        events = with_names(self.trace_df.copy(), self.symbol_table, is_short=True)
        events["loads"] = events["name"].isin(self._loads)
        events = events[["s_name", "cat", "pid", "tid", "stream", "index", "loads"]]
        frame = frame.merge(events, how="left", left_on="event_idx", right_on="index")
        rows = zip(edges, frame["stream"], frame["s_name"], frame.pop("loads"), strict=True)
        frame["bound_by"] = [_bound_by(*row) for row in rows]
        return frame

    def summary(self) -> Any:
        """What bounds the critical path, in percent of its duration."""
        frame = self.get_critical_path_breakdown()
        if frame is None:
            return None
        return frame.groupby("bound_by")["duration"].sum() / frame["duration"].sum() * 100

    def show_critical_path(self) -> None:
        """Prints the nodes of the critical path."""
        names = self.trace_df["name"]
        for node in (self.node_list[at] for at in self.critical_path_nodes):
            side = "begins" if node.is_start else "ends"
            print(f"{node.ts} {self.symbol_table.sym_table[names[node.ev_idx]]} {side}")

    def _path_edges(self) -> list[CPEdge]:
        path = self.critical_path_nodes
        return [self.edges[places]["object"] for places in zip(path, path[1:], strict=False)]

    def _add_nodes(self) -> None:
        frame = self.trace_df
        numbers = self.symbol_table.sym_index
        categories = [numbers[name] for name in _OPERATORS if name in numbers]
        blocking = {numbers[name] for name in _BLOCKING if name in numbers}
        is_linked = (frame["stream"] != -1) & (frame["index_correlation"] >= 0)
        is_load = frame["name"].isin(self._loads)
        ours = frame[frame["cat"].isin(categories) | is_linked | is_load]
        nodes: list[CPNode] = []
        for event in ours.itertuples():
            for at, is_start in ((event.ts, True), (event.end, False)):
                is_blocking = event.name in blocking
                nodes.append(CPNode(-1, event.index, at, is_start, is_blocking))
        self.node_list = sorted(nodes, key=lambda node: node.ts)
        for at, node in enumerate(self.node_list):
            node.idx = at
            to = self.event_to_start_node_map if node.is_start else self.event_to_end_node_map
            to[node.ev_idx] = at

    def connect(
        self, begin: CPNode, end: CPNode, kind: CPEdgeType, event: int | None, is_free: bool = False
    ) -> None:
        """Adds an edge whose time belongs to an event."""
        is_dependency = kind in (CPEdgeType.DEPENDENCY, CPEdgeType.SYNC_DEPENDENCY)
        # A call that ends after what called it, by the rounding of times, takes no negative time.
        weight = 0 if is_free or is_dependency else max(end.ts - begin.ts, 0)
        edge = CPEdge(begin.idx, end.idx, weight, kind)
        self.edges[begin.idx, end.idx] = {"weight": weight, "object": edge}
        if event is not None:
            self.edge_to_event_map[begin.idx, end.idx] = event

    def _add_calls(self) -> None:
        """Edges along each thread: into, between and out of calls that contain each other."""
        for _, thread in self.trace_df.groupby(["pid", "tid"]):
            if (thread["stream"] >= 0).any():
                continue
            ordered = thread.sort_values(
                ["ts", "dur", "index"], ascending=[True, False, True], kind="stable"
            )
            walk = _Walk(self)
            stack: list[tuple[int, float]] = []
            for event in ordered[["index", "ts", "end"]].itertuples(index=False):
                while stack and stack[-1][1] <= event.ts:
                    ended, _ = stack.pop()
                    walk.leave(ended, stack[-1][0] if stack else None)
                walk.enter(event.index, stack[-1][0] if stack else None)
                stack.append((event.index, event.end))
            while stack:
                ended, _ = stack.pop()
                walk.leave(ended, stack[-1][0] if stack else None)

    def _add_operations(self) -> None:
        """Edges of GPU operations: their time, what they wait for, and what waits for them."""
        numbers = self.symbol_table.sym_index
        waits = [numbers[name] for name in DEVICE_WAITS if name in numbers]
        frame = self.trace_df
        is_ours = ((frame["stream"] != -1) | frame["name"].isin(waits)) & (
            frame["index_correlation"] >= 0
        )
        ours = frame[is_ours].copy()
        ours["is_wait"] = ours["cat"] == numbers.get("cuda_sync", -1)
        # A wait ends after what it waits for, and may begin before it.
        ours["order"] = ours["ts"].where(~ours["is_wait"], ours["end"])
        ours = ours.sort_values(["order", "is_wait"], ascending=[True, False], kind="stable")
        _Streams(self).add(ours)


def clipped(frame: Any, symbols: SymbolTable, begin: float, end: float) -> Any:
    """The events that begin in a time, and the GPU operations that were launched in it."""
    on_cpu = frame["stream"] == -1
    inside = on_cpu & (frame["ts"] >= begin) & (frame["ts"] <= end) & (frame["dur"] > 0)
    launches = frame.index[inside]
    is_launched = ~on_cpu & frame["index_correlation"].isin(launches)
    wait = symbols.sym_index.get("Stream Wait Event", -1)
    return frame[inside | is_launched | (~on_cpu & (frame["name"] == wait))].copy()


def _bound_by(edge: CPEdge, stream: Any, name: Any, is_load: Any) -> str:
    if edge.type == CPEdgeType.KERNEL_KERNEL_DELAY:
        return "gpu_kernel_kernel_overhead"
    if edge.type == CPEdgeType.KERNEL_LAUNCH_DELAY:
        return "gpu_kernel_launch_overhead"
    if edge.type != CPEdgeType.OPERATOR_KERNEL:
        return ""
    if stream < 0:
        return "data_loading" if is_load else "cpu_bound"
    is_communication = kernel_type(str(name)) == COMMUNICATION
    return "gpu_communication_bound" if is_communication else "gpu_compute_bound"


class _Walk:
    """A walk along the calls of a thread."""

    def __init__(self, graph: CPGraph) -> None:
        self._graph = graph
        self._last: CPNode | None = None
        self._before: CPNode | None = None
        self._around: int | None = None
        self._depth = 0

    def enter(self, event: int, parent: int | None) -> None:
        start, _ = self._graph.get_nodes_for_event(event)
        if start is None:
            return
        if not self._depth and self._before is not None:
            self._graph.connect(self._before, start, CPEdgeType.DEPENDENCY, None)
        if self._last is not None:
            # From a beginning, the time is its call's; from an end, it is of what is around both.
            event_of = self._last.ev_idx if self._last.is_start else self._around
            self._graph.connect(self._last, start, CPEdgeType.OPERATOR_KERNEL, event_of)
        self._depth += 1
        self._last, self._around = start, parent

    def leave(self, event: int, parent: int | None) -> None:
        start, end = self._graph.get_nodes_for_event(event)
        if start is None or end is None:
            return
        self._depth -= 1
        if self._last is not None:
            kind = CPEdgeType.OPERATOR_KERNEL
            event_of = self._last.ev_idx if self._last.is_start else event
            self._graph.connect(self._last, end, kind, event_of, start.is_blocking)
        if self._depth:
            self._last, self._around = end, parent
        else:
            self._last, self._before = None, end


class _Streams:
    """A walk along the operations of GPUs."""

    def __init__(self, graph: CPGraph) -> None:
        self._graph = graph
        self._frame = graph.full_trace_df
        self._names = graph.symbol_table.sym_table
        self._last: dict[tuple[Any, int], CPNode] = {}
        self._waits_for: dict[int, CPNode] = {}
        self._queue = self._queue_lengths()
        self._start_of = self._frame["ts"]
        self._partner_of = self._frame["index_correlation"]
        self._launches = self._launches_by_stream()
        records = self._frame[self._is_named(self._frame, ("cudaEventRecord",))]
        self._records = dict(zip(records["correlation"].tolist(), records["ts"].tolist(), strict=True))
        self._adds_launches = os.environ.get(_ADD_LAUNCHES, "0") == "1"

    def add(self, operations: Any) -> None:
        for row in operations.itertuples():
            if row.is_wait:
                self._add_wait(row)
            else:
                self._add_operation(row)

    def _is_named(self, frame: Any, names: tuple[str, ...]) -> Any:
        numbers = self._graph.symbol_table.sym_index
        return frame["name"].isin([numbers[name] for name in names if name in numbers])

    def _launched(self) -> Any:
        """The launches, with the stream of what they launched."""
        frame = self._frame
        launches = frame[self._is_named(frame, QUEUED) & (frame["index_correlation"] > 0)]
        columns = ["index", "pid", "stream", "ts"]
        return launches[["index", "index_correlation", "ts", "pid", "tid"]].merge(
            frame[columns], left_on="index_correlation", right_on="index", suffixes=("", "_gpu")
        )

    def _queue_lengths(self) -> dict[int, int]:
        """How many operations of its stream were launched and had not begun, after each launch and
        each beginning of an operation."""
        pandas = import_library("pandas", "pandas")
        launched = self._launched()
        place = ["pid_gpu", "stream"]
        asked = launched[["index", "ts", *place]].assign(change=1)
        begun = launched[["index_gpu", "ts_gpu", *place]].assign(change=-1)
        begun.columns = asked.columns
        both = pandas.concat([asked, begun], ignore_index=True)
        both = both.sort_values(["ts", "change"], ascending=[True, False], kind="stable")
        lengths = both.groupby(place)["change"].cumsum()
        return dict(zip(both["index"].tolist(), lengths.tolist(), strict=True))

    def _launches_by_stream(self) -> dict[tuple[Any, int], tuple[list[float], list[Any]]]:
        """Times of launches and the launches, by stream."""
        launched = self._launched().sort_values("ts", kind="stable")
        return {
            (pid, int(stream)): (ours["ts"].tolist(), list(ours.itertuples()))
            for (pid, stream), ours in launched.groupby(["pid_gpu", "stream"])
        }

    def _recorded(self, row: Any) -> CPNode | None:
        """The end of what an event stands for that was waited for: the last operation that its stream
        was given when the event was recorded."""
        recorded = self._records.get(row.wait_on_cuda_event_record_corr_id)
        place = (row.pid, row.wait_on_stream)
        if row.wait_on_stream < 0 or recorded is None or place not in self._launches:
            return None
        times, launches = self._launches[place]
        at = bisect_right(times, recorded)
        if not at:
            return None
        return self._graph.get_nodes_for_event(launches[at - 1].index_correlation)[1]

    def _add_wait(self, row: Any) -> None:
        name = cast("str", self._names[row.name])
        if name == "Stream Wait Event":
            source, waiting = self._recorded(row), self._next_operation(row)
            if source is not None and waiting is not None:
                self._waits_for[waiting] = source
            return
        if name == "Event Sync":
            ends = [self._recorded(row)]
        elif name == "Context Sync":
            ends = [end for (pid, _), end in self._last.items() if pid == row.pid]
        elif name == "Stream Sync":
            ends = [self._last.get((row.pid, row.stream))]
        else:
            return
        _, waited = self._graph.get_nodes_for_event(row.index_correlation)
        for end in ends:
            if end is not None and waited is not None:
                self._graph.connect(end, waited, CPEdgeType.SYNC_DEPENDENCY, None)

    def _next_operation(self, row: Any) -> int | None:
        """The operation that a wait of a stream holds back: the next that its thread gave the stream."""
        call = row.index_correlation
        if call not in self._start_of.index or (row.pid, row.stream) not in self._launches:
            return None
        times, launches = self._launches[row.pid, row.stream]
        thread = tuple(self._frame.loc[call, ["pid", "tid"]])
        for launch in launches[bisect_left(times, self._start_of[call]) :]:
            if (launch.pid, launch.tid) == thread:
                return launch.index_correlation
        return None

    def _add_operation(self, row: Any) -> None:
        graph = self._graph
        start, end = graph.get_nodes_for_event(row.Index)
        if start is None or end is None:
            return
        graph.connect(start, end, CPEdgeType.OPERATOR_KERNEL, start.ev_idx)
        place = (row.pid, row.stream)
        last = self._last.get(place)
        source = self._waits_for.pop(row.Index, None)
        if source is not None and source is not last:
            graph.connect(source, start, CPEdgeType.SYNC_DEPENDENCY, None)
        launch, _ = graph.get_nodes_for_event(row.index_correlation)
        # The stream had nothing to do when the operation was launched.
        had_nothing = self._queue.get(row.index_correlation) == 1 and not self._queue.get(row.Index, 1)
        free = [before for before in (last, source) if before is not None]
        if launch is not None and had_nothing and all(one.ts < launch.ts for one in free):
            graph.connect(launch, start, CPEdgeType.KERNEL_LAUNCH_DELAY, None)
        else:
            if last is not None and (source is None or source.ts < last.ts):
                graph.connect(last, start, CPEdgeType.KERNEL_KERNEL_DELAY, last.ev_idx)
            if launch is not None and self._adds_launches:
                graph.connect(launch, start, CPEdgeType.KERNEL_LAUNCH_DELAY, None, True)
        self._last[place] = end
