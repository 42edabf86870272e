"""Two traces of PyTorch's profiler side by side, with the calls of HTA's ``trace_diff``."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .._errors import MisuseError
from .._table import import_library
from ._traces import Trace, files_by_rank

if TYPE_CHECKING:
    from collections.abc import Sequence


class DeviceType(Enum):
    """Which events are compared."""

    CPU = 1
    GPU = 2
    ALL = 3


class LabeledTrace:
    """The traces of a folder, by rank, with a name for columns."""

    def __init__(
        self,
        label: str | None = None,
        trace_dir: str | os.PathLike[str] | None = None,
        whole_microseconds: bool = False,
    ) -> None:
        if trace_dir is None:
            raise MisuseError("there is no trace to compare", "trace_dir names a folder of traces")
        pandas = import_library("pandas", "pandas")
        self.label = label or Path(trace_dir).name
        files = files_by_rank(None, Path(trace_dir))
        if not files:
            raise MisuseError(f"there is no trace in {trace_dir}", "traces end in .json or .json.gz")
        self._traces = {
            rank: Trace(pandas, path, True, whole_microseconds) for rank, path in sorted(files.items())
        }

    def ranks(self) -> list[int]:
        """The ranks that have a trace."""
        return list(self._traces)

    def iterations(self) -> list[int]:
        """The steps of the profiler."""
        return sorted({step for trace in self._traces.values() for step in trace.steps})

    def extract_ops(
        self,
        rank: int | Sequence[int] | None = None,
        iteration: int | Sequence[int] | None = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> Any:
        """The events of ranks, steps and devices; the first rank and the first step by default."""
        pandas = import_library("pandas", "pandas")
        ranks = _chosen("rank", rank, self.ranks())
        steps = _chosen("iteration", iteration, self.iterations())
        events = pandas.concat(
            [self._traces[one].in_steps(steps) for one in ranks], ignore_index=True
        )
        if device_type == DeviceType.CPU:
            return events[events["stream"] < 0]
        if device_type == DeviceType.GPU:
            return events[events["stream"] >= 0]
        return events


def _chosen(what: str, given: int | Sequence[int] | None, known: list[int]) -> list[int]:
    if given is None:
        chosen = known[:1]
    else:
        chosen = [given] if isinstance(given, int) else list(given)
    if not chosen or any(one not in known for one in chosen):
        raise MisuseError(f"there is no {what} {given}", f"there are {known}")
    return chosen


class TraceDiff:
    """How often operators and kernels ran in two traces, and for how long."""

    @classmethod
    def compare_traces(
        cls,
        control: LabeledTrace | str,
        test: LabeledTrace | str,
        control_rank: int | Sequence[int] | None = None,
        test_rank: int | Sequence[int] | None = None,
        control_iteration: int | Sequence[int] | None = None,
        test_iteration: int | Sequence[int] | None = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> Any:
        """Calls and time in microseconds by name, and what the second trace has more of them."""
        pandas = import_library("pandas", "pandas")
        first, second = _labeled(control, "Control"), _labeled(test, "Test")
        labels = [first.label, second.label]
        if labels[0] == labels[1]:
            labels = [f"{labels[0]}_control", f"{labels[1]}_test"]
        parts: list[Any] = []
        chosen = ((first, control_rank, control_iteration), (second, test_rank, test_iteration))
        for label, (trace, rank, iteration) in zip(labels, chosen, strict=True):
            durations = trace.extract_ops(rank, iteration, device_type).groupby("name")["dur"]
            part = pandas.DataFrame({"counts": durations.count(), "total_duration": durations.sum()})
            parts.append(part.add_prefix(f"{label}_"))
        frame = pandas.concat(parts, axis=1, join="outer").fillna(0.0).sort_index()
        before, after = labels
        frame["diff_counts"] = frame[f"{after}_counts"] - frame[f"{before}_counts"]
        frame["diff_duration"] = frame[f"{after}_total_duration"] - frame[f"{before}_total_duration"]
        signs = {True: "+", False: "-"}
        frame["counts_change_categories"] = [
            signs[change > 0] if change else "=" for change in frame["diff_counts"]
        ]
        frame.index.name = "name"
        return frame

    @classmethod
    def ops_diff(
        cls,
        control: LabeledTrace | str,
        test: LabeledTrace | str,
        control_rank: int | Sequence[int] | None = None,
        test_rank: int | Sequence[int] | None = None,
        control_iteration: int | Sequence[int] | None = None,
        test_iteration: int | Sequence[int] | None = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> dict[str, list[str]]:
        """The names that are new, gone, more frequent, less frequent, and as frequent as before."""
        frame = cls.compare_traces(
            control, test, control_rank, test_rank, control_iteration, test_iteration, device_type
        )
        before, after = frame.iloc[:, 0], frame.iloc[:, 2]
        has_both = (before > 0) & (after > 0)
        sorts = {
            "added": (before == 0) & (after > 0),
            "deleted": (before > 0) & (after == 0),
            "increased": has_both & (after > before),
            "decreased": has_both & (after < before),
            "unchanged": has_both & (after == before),
        }
        return {sort: cast("list[str]", frame.index[rows].tolist()) for sort, rows in sorts.items()}


def _labeled(given: LabeledTrace | str, label: str) -> LabeledTrace:
    return given if isinstance(given, LabeledTrace) else LabeledTrace(label, given)
