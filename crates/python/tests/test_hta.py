"""The drop-in for HolisticTraceAnalysis gives the frames that HTA 0.5 gave."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pandas
import pytest

import parallax
from parallax.compat.hta import (
    DeviceType,
    LabeledTrace,
    NotThereError,
    TraceAnalysis,
    TraceDiff,
)

FILES = {
    "trace_diff/control": "hta/control.json.gz",
    "ns_resolution_trace": "ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    "df_index_resolver": "hta/df_index_resolver.json.gz",
    "alexnet": "critical_path_alexnet_benchmark_result_2869224_1695835535_trace.json.gz",
    "nccl_parser_config": "nccl_parser_config_nccl_data.json.gz",
}


@pytest.fixture(params=list(FILES))
def case(
    request: pytest.FixtureRequest, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, TraceAnalysis, dict[str, Any]]:
    """The name of a trace, its analysis, and what HTA said of it."""
    monkeypatch.setenv("PARALLAX_CACHE", str(tmp_path))
    goldens = json.loads((corpus / "goldens/hta/hta-0.5.0.json").read_text())
    path = corpus / "data/chrome" / FILES[request.param]
    analysis = TraceAnalysis({0: str(path)}, whole_microseconds=True)
    return request.param, analysis, goldens[request.param]


def assert_same(frame: pandas.DataFrame, golden: Any, tolerance: float = 1e-9) -> None:
    expected = pandas.DataFrame(golden)
    frame = frame.reset_index(drop=True)
    assert list(frame.columns) == list(expected.columns)
    if "stream" in expected.columns:
        expected = expected.sort_values(["rank", "stream"], kind="stable", ignore_index=True)
    assert len(frame) == len(expected)
    for column in expected.columns:
        for row, (found, wanted) in enumerate(zip(frame[column], expected[column], strict=True)):
            if isinstance(wanted, float) and math.isnan(wanted):
                assert math.isnan(found), (column, row)
            elif isinstance(wanted, float):
                assert found == pytest.approx(wanted, rel=tolerance), (column, row)
            else:
                assert found == wanted, (column, row)


def test_time_of_gpus_is_divided_as_in_hta(
    case: tuple[str, TraceAnalysis, dict[str, Any]],
) -> None:
    name, analysis, golden = case
    temporal = pandas.DataFrame(golden["temporal_breakdown"]["v"])
    found = analysis.get_temporal_breakdown()
    if name == "alexnet":
        # HTA takes the call that waits for the device at the end for an operation of the GPU.
        assert found["compute_time(us)"].tolist() == temporal["compute_time(us)"].tolist()
        assert found["kernel_time(us)"][0] < temporal["kernel_time(us)"][0]
    else:
        assert_same(found, golden["temporal_breakdown"]["v"])
    assert_same(analysis.get_comm_comp_overlap(), golden["comm_comp_overlap"]["v"])


def test_kernels_are_as_in_hta(case: tuple[str, TraceAnalysis, dict[str, Any]]) -> None:
    _, analysis, golden = case
    by_kind, by_name = golden["gpu_kernel_breakdown"]["v"]
    found = analysis.get_gpu_kernel_breakdown(visualize=False)
    assert_same(found[0], [row for row in by_kind if row["sum"] > 0])
    assert_same(found[1][list(by_name[0])], by_name)


def test_idle_times_are_as_in_hta(case: tuple[str, TraceAnalysis, dict[str, Any]]) -> None:
    _, analysis, golden = case
    times, statistics = golden["idle_time_breakdown"]["v"]
    found = analysis.get_idle_time_breakdown(show_idle_interval_stats=True)
    assert_same(found[0], times)
    assert_same(found[1], statistics)
    assert analysis.get_idle_time_breakdown()[1] is None


def test_launches_are_as_in_hta(case: tuple[str, TraceAnalysis, dict[str, Any]]) -> None:
    _, analysis, golden = case
    frame = analysis.get_cuda_kernel_launch_stats()[0]
    columns = ["correlation", "cpu_duration", "gpu_duration", "launch_delay"]
    assert list(frame.columns) == columns
    expected = golden["launch_stats"]["v"]["0"]
    assert len(frame) == expected["rows"]
    for column in columns[1:]:
        assert frame[column].sum() == expected[f"{column}_sum"], column
    fewer = analysis.get_cuda_kernel_launch_stats(include_memory_events=False)[0]
    assert 0 < len(fewer) < len(frame)


def test_queues_are_nearly_as_in_hta(case: tuple[str, TraceAnalysis, dict[str, Any]]) -> None:
    _, analysis, golden = case
    summary = analysis.get_queue_length_summary()
    summary.columns = ["|".join(column) for column in summary.columns]
    # The order of what happens at one moment is accidental there.
    for found, expected in zip(
        summary.to_dict("records"), golden["queue_length_summary"]["v"], strict=True
    ):
        for column in ("count", "min", "max"):
            assert found[f"queue_length|{column}"] == expected[f"queue_length|{column}"]
        for column in ("mean", "std", "75%"):
            wanted = expected[f"queue_length|{column}"]
            assert found[f"queue_length|{column}"] == pytest.approx(wanted, rel=0.02)
    series = analysis.get_queue_length_time_series()
    assert list(series[0].columns) == ["ts", "pid", "tid", "stream", "queue_length"]
    assert (series[0].groupby("stream")["queue_length"].last() == 0).all()
    full = analysis.get_time_spent_blocked_on_full_queue(series, max_queue_length=1)
    assert (full["duration_at_max_queue_length"] > 0).all()
    assert (full["relative_duration_at_max_queue_length"] <= 1).all()


def test_bandwidths_are_as_in_hta(case: tuple[str, TraceAnalysis, dict[str, Any]]) -> None:
    name, analysis, golden = case
    summary = analysis.get_memory_bw_summary()
    expected = golden["memory_bw_summary"]["v"]
    assert len(summary) == len(expected)
    for (_, found), wanted in zip(summary.iterrows(), expected, strict=True):
        # Of what ends and begins at one moment the order is accidental there, and sums of floating
        # point numbers that should be 0 may be a little more.
        has_ties = name in ("df_index_resolver", "ns_resolution_trace")
        tolerance = 0.02 if has_ties else 1e-6
        assert found["memory_bw_gbps", "count"] == pytest.approx(
            wanted["memory_bw_gbps|count"], rel=0.05
        ), wanted
        for column in ("mean", "max"):
            assert found["memory_bw_gbps", column] == pytest.approx(
                wanted[f"memory_bw_gbps|{column}"], rel=tolerance
            ), (column, wanted)
    series = analysis.get_memory_bw_time_series()[0]
    assert list(series.columns) == ["ts", "pid", "name", "memory_bw_gbps"]
    assert series.groupby("name")["memory_bw_gbps"].last().abs().max() < 1e-6


def test_times_have_nanoseconds_where_the_trace_has_them(corpus: Path) -> None:
    path = str(corpus / "data/chrome" / FILES["ns_resolution_trace"])
    exact = TraceAnalysis({0: path}).get_temporal_breakdown()
    cut = TraceAnalysis({0: path}, whole_microseconds=True).get_temporal_breakdown()
    # Cutting each event makes the gaps between them longer.
    assert exact["idle_time(us)"][0] < 0.7 * cut["idle_time(us)"][0]


def test_steps_and_annotations(corpus: Path) -> None:
    path = str(corpus / "data/chrome" / FILES["trace_diff/control"])
    less, whole = (
        TraceAnalysis({0: path}, include_last_profiler_step=last) for last in (False, True)
    )
    assert whole.get_profiler_steps() == [*less.get_profiler_steps(), 1014]
    kernels = [len(one.get_cuda_kernel_launch_stats()[0]) for one in (less, whole)]
    assert kernels[0] < kernels[1]
    annotations = less.get_gpu_user_annotation_breakdown(use_gpu_annotation=False)
    steps = annotations[annotations["name"].str.startswith("ProfilerStep")]
    assert len(steps) == len(less.get_profiler_steps())
    assert less.get_gpu_user_annotation_breakdown() is None
    assert less.experiments[0].format.startswith("Kineto")


def trace(rank: int | None, with_arrows: bool) -> str:
    """Two kernels that a CPU thread launches."""
    names = [("process_labels", {"labels": "GPU 0"}), ("thread_name", {"name": "stream 7 "})]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": name, "pid": 0, "tid": 7, "ts": 0, "args": args} for name, args in names
    ]
    for at, start in enumerate((0, 100)):
        launch = {"name": "cudaLaunchKernel", "cat": "cuda_runtime", "pid": 1, "tid": 1}
        events.append({"ph": "X", "ts": 1000 + start, "dur": 10, **launch, "args": {"correlation": at}})
        kernel = {"name": "gemm", "cat": "kernel", "pid": 0, "tid": 7}
        args = {"stream": 7, "device": 0, "correlation": at}
        events.append({"ph": "X", "ts": 1020 + start, "dur": 30, **kernel, "args": args})
        if with_arrows:
            arrow = {"cat": "ac2g", "name": "ac2g", "id": at}
            events.append({"ph": "s", "ts": 1000 + start, "pid": 1, "tid": 1, **arrow})
            events.append({"ph": "f", "bp": "e", "ts": 1020 + start, "pid": 0, "tid": 7, **arrow})
    content: dict[str, Any] = {"schemaVersion": 1, "traceEvents": events}
    if rank is not None:
        content["distributedInfo"] = {"rank": rank}
    return json.dumps(content)


def test_a_folder_has_a_trace_for_each_rank(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(trace(3, True))
    with gzip.open(tmp_path / "b.json.gz", "wt") as file:
        file.write(trace(1, True))
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    assert list(analysis.experiments) == [1, 3]
    frame = analysis.get_temporal_breakdown()
    assert frame["rank"].tolist() == [1, 3]
    assert frame["idle_time(us)"].tolist() == [70, 70]
    launches = analysis.get_cuda_kernel_launch_stats([3])[3]
    assert launches["launch_delay"].tolist() == [10, 10]
    named = TraceAnalysis(["a.json"], trace_dir=str(tmp_path))
    assert list(named.experiments) == [3]
    with pytest.raises(parallax.MisuseError, match="no trace of rank 0"):
        analysis.get_idle_time_breakdown()
    with pytest.raises(parallax.OpenError, match="no trace in"):
        TraceAnalysis(trace_dir=str(tmp_path / "absent"))


def test_what_is_not_there_says_what_is(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(trace(None, False))
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    assert analysis.get_temporal_breakdown()["compute_time(us)"].tolist() == [60]
    assert analysis.get_cupti_counter_data_with_operators() == []
    assert analysis.get_gpu_kernels_with_user_annotations(0) is None
    assert analysis.critical_path_analysis(rank=0, annotation="no such step") is None
    without = (tmp_path / "a.json").read_text().replace('"correlation"', '"number"')
    (tmp_path / "a.json").write_text(without)
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    with pytest.raises(NotThereError, match="neither arrows nor correlations"):
        analysis.get_idle_time_breakdown()


def job(folder: Path, rank: int, late_us: int, kernels: int = 2) -> None:
    """Two steps of a rank: an operator that launches kernels, then a collective that begins late."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}}
    ]

    def call(name: str, category: str, at: int, lasts: int, on: tuple[int, int], **args: Any) -> None:
        event = {"ph": "X", "name": name, "cat": category, "ts": at, "dur": lasts}
        events.append({**event, "pid": on[0], "tid": on[1], "args": args})

    correlation = 0
    for step in (1, 2):
        start = 10_000 * step
        call(f"ProfilerStep#{step}", "user_annotation", start, 9_000, (1, 1))
        call("aten::linear", "cpu_op", start + 100, 500, (1, 1))
        call("aten::addmm", "cpu_op", start + 110, 400, (1, 1))
        # Another thread has an operator at that time, which launches nothing.
        call("aten::copy_", "cpu_op", start + 115, 300, (1, 2))
        for at in range(kernels):
            correlation += 1
            begin = start + 120 + 20 * at
            call("cudaLaunchKernel", "cuda_runtime", begin, 10, (1, 1), correlation=correlation)
            work = {"stream": 7, "device": 0, "correlation": correlation}
            call(f"gemm{at}", "kernel", begin + 30 + 40 * at, 40, (0, 7), **work)
        correlation += 1
        call("cudaLaunchKernel", "cuda_runtime", start + 700, 10, (1, 1), correlation=correlation)
        work = {"stream": 7, "device": 0, "correlation": correlation}
        begin = start + 1_000 + late_us
        call("ncclKernel_AllReduce", "kernel", begin, 3_000 - late_us, (0, 7), **work)
    content = {"schemaVersion": 1, "distributedInfo": {"rank": rank}, "traceEvents": events}
    folder.mkdir(exist_ok=True)
    (folder / f"{rank}.json").write_text(json.dumps(content))


def test_operators_have_the_kernels_that_they_launch(tmp_path: Path) -> None:
    job(tmp_path, 0, 0)
    analysis = TraceAnalysis(trace_dir=str(tmp_path), include_last_profiler_step=True)
    frame = analysis.get_aten_op_kernels_and_delay()[0]
    assert frame.to_dict("records") == [
        {
            "aten_op_name": "aten::addmm",
            "kernel_sequence": "gemm0 -> gemm1",
            "occurrence_count": 2,
            "avg_aten_op_launch_delay": 10.0,
            "avg_runtime_delay": 30.0,
        }
    ]
    sequences = analysis.get_frequent_cuda_kernel_sequences("aten::", min_pattern_len=2)
    assert sequences.to_dict("records") == [
        {
            "pattern": "aten::linear|gemm0|gemm1",
            "count": 2,
            "GPU kernel duration (us)": 160.0,
            "CPU op duration (us)": 1000.0,
        }
    ]
    assert not len(analysis.get_frequent_cuda_kernel_sequences("aten::", min_pattern_len=3))
    with pytest.raises(parallax.MisuseError, match="operator_name is empty"):
        analysis.get_frequent_cuda_kernel_sequences("")


def test_operators_and_steps_are_as_in_hta(corpus: Path, tmp_path: Path) -> None:
    """Figures of HTA 0.5.0 on the same file."""
    path = corpus / "data/chrome" / FILES["trace_diff/control"]
    frame = TraceAnalysis({0: str(path)}, whole_microseconds=True).get_aten_op_kernels_and_delay()[0]
    assert len(frame) == 153
    first = frame.iloc[0]
    assert first["aten_op_name"] == "aten::add_" and first["occurrence_count"] == 495
    assert first["avg_aten_op_launch_delay"] == pytest.approx(3.469)
    assert first["avg_runtime_delay"] == pytest.approx(437.677)
    (tmp_path / path.name).write_bytes(path.read_bytes())
    trace = LabeledTrace("a", tmp_path, whole_microseconds=True)
    steps = trace.iterations()
    changes = TraceDiff.compare_traces(
        trace,
        LabeledTrace("b", tmp_path, whole_microseconds=True),
        control_iteration=steps[0],
        test_iteration=steps[1],
        device_type=DeviceType.GPU,
    )
    assert len(changes) == 174
    copies = changes.loc["Memcpy DtoD (Device -> Device)"]
    assert copies["a_total_duration"] == 455 and copies["b_total_duration"] == 458
    assert (copies["a_counts"], copies["diff_counts"]) == (3, 0)


def test_ranks_that_begin_late_are_stragglers(tmp_path: Path) -> None:
    for rank, late_us in enumerate((0, 900, 100, 2_000)):
        job(tmp_path, rank, late_us)
    analysis = TraceAnalysis(trace_dir=str(tmp_path), include_last_profiler_step=True)
    assert analysis.get_potential_stragglers(num_candidates=1) == [3]
    assert analysis.get_potential_stragglers(num_candidates=2) == [1, 3]
    assert analysis.get_potential_stragglers(profiler_steps=[2], num_candidates=1) == [3]
    with pytest.raises(parallax.MisuseError, match="no step of"):
        analysis.get_potential_stragglers(profiler_steps=[9])
    alone = TraceAnalysis({0: str(tmp_path / "0.json")}, include_last_profiler_step=True)
    with pytest.raises(NotThereError, match="no communication of two ranks"):
        alone.get_potential_stragglers()


def test_two_traces_are_compared(tmp_path: Path) -> None:
    job(tmp_path / "before", 0, 0)
    job(tmp_path / "after", 0, 0, kernels=3)
    before, after = str(tmp_path / "before"), str(tmp_path / "after")
    sorts = TraceDiff.ops_diff(before, after)
    assert sorts["added"] == ["gemm2"] and sorts["deleted"] == []
    assert sorts["increased"] == ["cudaLaunchKernel"]
    assert TraceDiff.ops_diff(after, before)["decreased"] == ["cudaLaunchKernel"]
    frame = TraceDiff.compare_traces(before, after, device_type=DeviceType.GPU)
    assert "aten::linear" not in frame.index
    assert frame.loc["gemm2"].to_dict() == {
        "Control_counts": 0.0,
        "Control_total_duration": 0.0,
        "Test_counts": 1.0,
        "Test_total_duration": 40.0,
        "diff_counts": 1.0,
        "diff_duration": 40.0,
        "counts_change_categories": "+",
    }
    with pytest.raises(parallax.MisuseError, match="no iteration 7"):
        TraceDiff.compare_traces(before, after, test_iteration=7)


# What HTA 0.5.0 says: nodes, events and edges of the path, and shares by what bounds it.
PATHS: dict[str, tuple[str, Any, tuple[int, int, int], dict[str, float]]] = {
    "alexnet": (
        "[param|pytorch.model.alex_net|0|0|0|measure|forward]",
        1,
        (149, 77, 148),
        {"cpu_bound": 89.418, "gpu_compute_bound": 10.359, "gpu_kernel_kernel_overhead": 0.14},
    ),
    "trace_diff/control": (
        "ProfilerStep",
        (0, 1),
        (11001, 5502, 11000),
        {"cpu_bound": 43.062, "gpu_kernel_kernel_overhead": 56.314, "gpu_compute_bound": 0.611},
    ),
    "ns_resolution_trace": (
        "ProfilerStep",
        0,
        (3053, 1529, 3052),
        {"gpu_compute_bound": 96.572, "gpu_kernel_kernel_overhead": 1.866, "cpu_bound": 1.553},
    ),
    "nccl_parser_config": ("ProfilerStep", 0, (6160, 3080, 6159), {"cpu_bound": 100.0}),
}
# And of the GPU operations, and of those in the commonest annotations.
ANNOTATED = {
    "nccl_parser_config": (2516, {"": 1573, "DistributedDataParallel.forward": 900}),
    "ns_resolution_trace": (4876, {"": 2992, "DistributedDataParallel.forward": 1840}),
}


def test_critical_paths_and_annotations_are_as_in_hta(
    case: tuple[str, TraceAnalysis, dict[str, Any]],
) -> None:
    name, analysis, _ = case
    if name in PATHS:
        annotation, instance, numbers, shares = PATHS[name]
        found = analysis.critical_path_analysis(0, annotation, instance)
        assert found is not None
        graph, has_path = found
        assert has_path
        path = (graph.critical_path_nodes, graph.critical_path_events_set, graph.critical_path_edges_set)
        assert tuple(len(part) for part in path) == numbers
        summary = dict(graph.summary())
        for bound, share in shares.items():
            assert summary[bound] == pytest.approx(share, abs=0.001), bound
    frame = analysis.get_gpu_kernels_with_user_annotations(0)
    if name not in ANNOTATED:
        assert frame is None or len(frame)
        return
    number, counts = ANNOTATED[name]
    assert frame is not None and len(frame) == number
    said = frame["s_user_annotation"].value_counts()
    assert {text: int(said[text]) for text in counts} == counts


def test_copies_of_traces_have_the_critical_path_and_counters(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "alexnet.json.gz"
    path.write_bytes((corpus / "data/chrome" / FILES["alexnet"]).read_bytes())
    analysis = TraceAnalysis({0: str(path)}, whole_microseconds=True)
    annotation = PATHS["alexnet"][0]
    found = analysis.critical_path_analysis(0, annotation, 0)
    assert found is not None
    written = analysis.overlay_critical_path_analysis(0, found[0], tmp_path / "out")
    with gzip.open(written) as file:
        events = json.load(file)["traceEvents"]
    lasting = [event for event in events if event.get("ph") == "X"]
    critical = [event for event in lasting if event.get("args", {}).get("critical") == 1]
    assert len(critical) == 88
    arrows = [event for event in events if event.get("name") == "critical_path"]
    assert arrows and sorted({event["ph"] for event in arrows}) == ["f", "s"]
    assert isinstance(parallax.open(written), parallax.Experiment)

    analysis.generate_trace_with_counters()
    with gzip.open(tmp_path / "alexnet_with_counters.json.gz") as file:
        events = json.load(file)["traceEvents"]
    counted = [event for event in events if event.get("ph") == "C"]
    series = analysis.get_queue_length_time_series([0])[0]
    lengths = [event["args"]["Queue Length"] for event in counted if "Queue Length" in event["args"]]
    assert lengths == series["queue_length"].tolist()
    first = min(event["ts"] for event in events if event.get("ph") == "X" and event.get("cat") != "Trace")
    last = max(event["ts"] for event in events if event.get("ph") == "X")
    assert all(first <= event["ts"] <= last for event in counted if "Queue Length" in event["args"])


def test_counters_of_kernels_have_the_operators_that_launched_them(tmp_path: Path) -> None:
    def event(name: str, category: str, at: int, lasts: int, tid: int, **args: Any) -> dict[str, Any]:
        fields = {"ph": "X", "name": name, "cat": category, "ts": at, "dur": lasts, "pid": 1, "tid": tid}
        return {**fields, "args": args}

    events = [
        event("aten::linear", "cpu_op", 0, 100, 5),
        event("aten::addmm", "cpu_op", 10, 50, 5),
        event("cudaLaunchKernel", "cuda_runtime", 20, 5, 5, correlation=1),
        event("cudaLaunchKernel", "cuda_runtime", 70, 5, 5, correlation=2),
        event("gemm", "kernel", 30, 20, 7, stream=7, correlation=1),
        event("relu", "kernel", 80, 20, 7, stream=7, correlation=2),
        event("gemm", "cuda_profiler_range", 30, 20, 9, smsp__inst_executed=640),
        event("relu", "cuda_profiler_range", 80, 20, 9, smsp__inst_executed=64),
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"traceEvents": events}))
    (frame,) = TraceAnalysis({0: str(path)}).get_cupti_counter_data_with_operators()
    assert frame["name"].tolist() == ["gemm", "relu"]
    assert frame["smsp__inst_executed"].tolist() == [640, 64]
    assert frame["op_stack"].tolist() == [["aten::linear", "aten::addmm"], ["aten::linear"]]
    assert frame["bottom_level_op"].tolist() == ["aten::addmm", "aten::linear"]
    # Counters do not say which launch they are of: as many of one as of the other are needed.
    path.write_text(json.dumps({"traceEvents": events[:-1]}))
    with pytest.raises(parallax.MisuseError, match="counters of 1 kernel and 2 launches"):
        TraceAnalysis({0: str(path)}).get_cupti_counter_data_with_operators()
