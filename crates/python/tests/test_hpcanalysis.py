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


def test_what_is_not_there_says_what_is(fixtures: Path) -> None:
    opened = open_db(fixtures / "reactor/n1024-p8")
    with pytest.raises(NotThereError, match=r"Experiment\.balance"):
        opened.load_imbalance("function(MPI_*)", "rank", "time (i)")
    with pytest.raises(NotThereError, match=r"Experiment\.tree"):
        opened.query_cct("*")
    with pytest.raises(parallax.MisuseError, match="no frames of 'modin'"):
        open_db(fixtures / "reactor/n1024-p8", hpc_dataframe_type="modin")
