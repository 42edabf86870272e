"""The drop-in for hpcanalysis gives the frames that hpcanalysis gave."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest

import parallax
from parallax.compat.hpcanalysis import NotThereError, open_db


def database(corpus: Path, name: str) -> Path:
    found = [
        path.parent
        for path in (corpus / "data/hpctoolkit").rglob("profile.db")
        if path.parent.name == name
    ]
    assert found, name
    return found[0]


def test_stored_answers_of_hpcanalysis_come_out(corpus: Path) -> None:
    goldens = json.loads((corpus / "goldens/hpcanalysis-queries.json").read_text())
    compared = 0
    for name, golden in goldens.items():
        opened = open_db(database(corpus, name))
        for query in golden.get("queries", []):
            frame = opened.query_profile_slices(
                query["contexts"], query["profiles"], query["metrics"]
            )
            what = (name, query["contexts"], query["profiles"], query["metrics"])
            assert list(frame.columns) == ["value"], what
            assert frame.index.names == ["profile_id", "cct_id", "metric_id"], what
            assert frame["value"].dtype == "float64", what
            assert [str(level.dtype) for level in frame.index.levels] == ["int64"] * 3, what
            assert len(frame) == query["rows"], what
            assert frame["value"].sum() == pytest.approx(query["sum"], rel=1e-9), what
            for profile, context, metric, value in query["top"]:
                assert frame.loc[(profile, context, metric), "value"] == value, what
            compared += 1
    assert compared > 70


def test_ranges_leave_their_end_out(fixtures: Path) -> None:
    opened = open_db(fixtures / "reactor/n1024-p8")

    def profiles(expression: str | list[str]) -> set[int]:
        frame = opened.query_profile_slices("application", expression, "realtime (i)")
        return set(frame.index.get_level_values("profile_id"))

    assert profiles("rank(0-2)") == profiles("rank(0,1)") == profiles(["rank(0)", "rank(1)"])
    assert profiles("rank(0-8:3)") == profiles("rank(0,3,6)")
    assert profiles("rank(3-3)") == set()
    assert len(profiles("rank(0-2).thread(0)")) == 2
    assert profiles("rank") > profiles("rank(0-7)")


def test_lists_are_unions_and_numbers_are_ids(fixtures: Path) -> None:
    opened = open_db(fixtures / "reactor/n1024-p8")
    union = opened.query_profile_slices(["application", "function(MPI_*)"], "rank(0)", "realtime (i)")
    ids = sorted(set(union.index.get_level_values("cct_id")))
    assert ids[0] == 0 and len(ids) > 3
    same = opened.query_profile_slices(ids, "rank(0)", ["realtime (i)"], thread_count=2)
    pandas.testing.assert_frame_equal(union.sort_index(), same.sort_index())


def test_what_does_not_exist_is_an_empty_frame_and_a_warning(fixtures: Path) -> None:
    opened = open_db(fixtures / "reactor/n1024-p8")
    with pytest.warns(parallax.ParallaxWarning, match="no function nothing"):
        frame = opened.query_profile_slices("function(nothing)", "*", "*")
    assert len(frame) == 0 and frame.index.names == ["profile_id", "cct_id", "metric_id"]
    with pytest.raises(ValueError, match="expected"):
        opened.query_profile_slices("function(", "*", "*")


def test_traces_are_in_the_order_of_time(fixtures: Path) -> None:
    opened = open_db(fixtures / "reactor/n1024-p8")
    frame = opened.query_trace_slices("rank(0-2)")
    assert list(frame.columns) == ["profile_id", "cct_id", "start_timestamp", "end_timestamp"]
    assert frame["start_timestamp"].is_monotonic_increasing
    assert (frame["end_timestamp"] >= frame["start_timestamp"]).all()
    middle = int(frame["start_timestamp"].iloc[len(frame) // 2])
    early = opened.query_trace_slices("rank(0-2)", (0, middle))
    assert 0 < len(early) < len(frame)


def test_load_imbalance_has_the_values_of_hpcanalysis(corpus: Path) -> None:
    opened = open_db(database(corpus, "issue-233"))
    table = opened.load_imbalance("function(MPI_*)", "rank", "time (i)")
    assert list(table.columns) == ["mean", "mean / max", "variance"]
    # What hpcanalysis gives once its arguments are in order.
    for function, mean, ratio in (
        ("MPI_Allreduce", 0.309637, 0.341992),
        ("MPI_Waitall", 0.116589, 0.088769),
        ("MPI_Wait", 0.010939, 0.186960),
        ("MPI_Barrier", 0.014832, 0.829998),
    ):
        assert table.loc[function, "mean"] == pytest.approx(mean, abs=1e-6), function
        assert table.loc[function, "mean / max"] == pytest.approx(ratio, abs=1e-6), function
    assert table["variance"].dropna().is_monotonic_decreasing


def test_profiles_are_described(corpus: Path) -> None:
    opened = open_db(database(corpus, "issue-233"))
    profiles = opened.query_profile_descriptions("rank")
    # The stored answer has the summary as well.
    golden = json.loads((corpus / "goldens/hpcanalysis-queries.json").read_text())
    assert len(profiles) == golden["issue-233"]["profiles"]
    assert profiles.index.name == "id" and set(profiles.dtypes.astype(str)) == {"Int64"}
    assert sorted(profiles["rank"].unique()) == list(range(27))
    some = opened.query_profile_descriptions("rank(0-3)")
    assert sorted(some["rank"].unique()) == [0, 1, 2]
    assert (some["ctx_samples"] > 0).all() and (some["metric_samples"] >= some["ctx_samples"]).all()
    assert some["trace_samples"].sum() == len(opened.experiment.trace(profiles="rank(0-2)"))


def test_metrics_and_contexts_are_described(corpus: Path) -> None:
    opened = open_db(database(corpus, "issue-233"))
    metrics = opened.query_metric_descriptions("cputime (i,e)")
    assert list(metrics.columns) == ["id", "name", "aggregation", "scope", "unit"]
    assert set(zip(metrics["aggregation"], metrics["scope"], strict=True)) == {
        ("prop", "i"), ("prop", "e"), ("sum", "i"), ("sum", "e"),
    }  # fmt: skip
    assert set(metrics["unit"]) == {"sec"} and set(metrics["name"]) == {"cputime"}
    frame = opened.query_cct("*")
    assert frame.index.name == "id" and len(frame) == len(opened.experiment.tree)
    assert {"entry", "function", "loop", "line"} <= set(frame["type"])
    functions = opened.query_cct(["function(MPI_Allreduce)", "function(MPI_Waitall)"])
    assert set(functions["name"]) == {"MPI_Allreduce", "MPI_Waitall"}
    for id_, row in functions.iterrows():
        assert id_ in frame.loc[row["parent"], "children"]
        assert frame.loc[row["parent"], "depth"] == row["depth"] - 1
    with pytest.warns(parallax.ParallaxWarning, match="no function nothing"):
        assert len(opened.query_cct("function(nothing)")) == 0


def test_flat_profiles_are_by_the_fields_of_their_profiles(corpus: Path) -> None:
    opened = open_db(database(corpus, "issue-233"))
    both = opened.flat_profile("function(MPI_*)", "rank.thread(0)")
    assert both.index.names == ["rank", "thread", "function"]
    assert list(both.columns) == ["time (sec)", "percentage (%)"]
    one = opened.flat_profile("function(MPI_Allreduce)", include_percentage=False)
    assert list(one.columns) == ["MPI_Allreduce (sec)"] and one.index.names == ["rank"]
    slices = opened.query_profile_slices("function(MPI_Allreduce)", "rank(0)", "cputime (i)")
    assert one.loc[0, "MPI_Allreduce (sec)"] == pytest.approx(slices["value"].sum())
    with pytest.raises(ValueError, match="for functions"):
        opened.flat_profile("loop")


def test_reports_have_the_classes(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_db(database(corpus, "issue-233"))
    report = opened.hpcreport()
    assert report.index.names == ["MAJOR", "MINOR"]
    assert list(report.columns) == ["TIME", "PERCENTAGE (%)"]
    cpu = report.loc["CPU (sec)"]
    assert cpu.loc["CPU total", "PERCENTAGE (%)"] == 100
    assert {"MPI Point-to-Point", "MPI Collective", "OpenMP Idle"} <= set(cpu.index)
    verbose = opened.hpcreport(verbose=True).loc["CPU (sec)"]
    assert "MPI_Allreduce" in verbose.index
    opened.visualize_cct("function(MPI_Allreduce)", max_depth=30)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.strip().endswith(": MPI_Allreduce") for line in lines)
    assert len(lines) < len(opened.experiment.tree)


def test_gpus_have_their_part_of_the_report(corpus: Path) -> None:
    opened = open_db(database(corpus, "vectorAdd"))
    gpu = opened.hpcreport().loc["GPU (sec)"]
    assert gpu.loc["GPU total", "PERCENTAGE (%)"] == 100
    assert gpu.loc["Kernels", "PERCENTAGE (%)"] + gpu.loc[
        "Explicit copies", "PERCENTAGE (%)"
    ] == pytest.approx(100, abs=0.02)


def test_gpus_are_idle_for_the_rest_of_the_time(tmp_path: Path) -> None:
    # No database here has GPUs and ranks: two ranks as another tool writes them.
    for metric, values in (("TIME", (10e6, 8e6)), ("GPUOP", (4, 5))):
        folder = tmp_path / f"MULTI__{metric}"
        folder.mkdir()
        for rank, value in enumerate(values):
            (folder / f"profile.{rank}.0.0").write_text(
                f"1 templated_functions_MULTI_{metric}\n# Name Calls Subrs Excl Incl ProfileCalls #\n"
                f'"main" 1 0 {value} {value} 0 GROUP="TAU_DEFAULT"\n0 aggregates\n'
            )
    opened = open_db(tmp_path)
    table = opened.gpu_idleness()
    assert table.index.name == "rank" and table.index.tolist() == [1, 0]
    assert table["GPU total time"].tolist() == pytest.approx([5, 4])
    assert table["GPU idle time"].tolist() == pytest.approx([3, 6])
    assert opened.gpu_idleness([0]).index.tolist() == [0]


def test_what_is_not_there_says_what_is(fixtures: Path) -> None:
    with pytest.raises(NotThereError, match=r"Experiment\.query"):
        open_db(fixtures / "reactor/n1024-p8", cct_pruner=object())  # type: ignore[arg-type]
    with pytest.raises(parallax.MisuseError, match="no frames of 'modin'"):
        open_db(fixtures / "reactor/n1024-p8", hpc_dataframe_type="modin")
    opened = open_db(fixtures / "reactor/n1024-p8")
    with pytest.raises(parallax.ReadError, match="no profile of rank has GPU operations"):
        opened.gpu_idleness()
