"""Hatchet, Thicket and Extra-P get what the engine knows, and give it back.

The libraries want older versions of pandas and NumPy than the other tests: `cargo xtask setup` makes an
environment for them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import parallax


@pytest.fixture
def hatchet() -> Any:
    return pytest.importorskip("hatchet", reason="Hatchet is not installed (llnl-hatchet)")


@pytest.fixture
def thicket() -> Any:
    return pytest.importorskip("thicket", reason="Thicket is not installed (llnl-thicket)")


@pytest.fixture
def extrap() -> Any:
    pytest.importorskip("extrap", reason="Extra-P is not installed (extrap)")
    return pytest.importorskip("extrap.entities.experiment")


@pytest.fixture
def runs(fixtures: Path) -> parallax.Ensemble:
    paths = [fixtures / f"reactor/n{n}-p{ranks}" for n in (256, 512, 1024) for ranks in (1, 2, 4)]
    opened = parallax.open(paths, parameters=["cores=ranks", r"size=path:n(\d+)-"])
    assert isinstance(opened, parallax.Ensemble)
    return opened


def test_a_graph_frame_has_the_tree(hatchet: Any, reactor: parallax.Experiment) -> None:
    frame = reactor.to_hatchet()
    assert isinstance(frame, hatchet.GraphFrame)
    tree = reactor.tree
    assert len(frame.graph) == len(tree) == len(frame.dataframe)
    assert frame.dataframe["REALTIME (inc)"].max() == max(one.inclusive or 0 for one in tree)
    assert frame.dataframe["REALTIME"].sum() == pytest.approx(
        sum(one.exclusive or 0 for one in tree)
    )
    for node in frame.graph.traverse():
        context = tree[frame.dataframe.loc[node, "context_id"]]
        assert [one.frame["name"] for one in node.path()] == context.path
    assert "MPI_Allreduce" in frame.tree()
    only_mpi = frame.filter(lambda row: "MPI_" in row["name"], squash=True)
    assert 0 < len(only_mpi.graph) < len(frame.graph)
    small = reactor.to_hatchet(metrics=["realtime", "realtime"], below_percent=5)
    assert len(small.graph) < len(frame.graph)


def test_a_graph_frame_has_locations(hatchet: Any, reactor: parallax.Experiment) -> None:
    frame = reactor.to_hatchet(by_location=True, profiles="thread(0)")
    assert frame.dataframe.index.names == ["node", "rank", "thread"]
    assert set(frame.dataframe.index.get_level_values("rank")) == set(range(8))
    top = frame.graph.roots[0]
    for rank in range(8):
        (value,) = reactor.query(
            profiles=f"rank({rank}).thread(0)",
            contexts=f"context({frame.dataframe.loc[(top, rank, 0), 'context_id']})",
            metrics="realtime (i)",
        )["value"]
        assert frame.dataframe.loc[(top, rank, 0), "REALTIME (inc)"] == value
    own = frame.dataframe.groupby("node")["REALTIME"].sum()
    whole = reactor.to_hatchet(profiles="thread(0)")
    for node, value in own.items():
        id_ = frame.dataframe.loc[(node, 0, 0), "context_id"]
        row = whole.dataframe[whole.dataframe["context_id"] == id_]
        assert row["REALTIME"].iloc[0] == pytest.approx(value, abs=1e-9), row
    summed = frame.deepcopy()
    summed.drop_index_levels()
    assert summed.dataframe.index.names == ["node"]


@pytest.mark.parametrize("by_location", [False, True])
def test_a_graph_frame_comes_back(
    hatchet: Any, reactor: parallax.Experiment, by_location: bool
) -> None:
    frame = reactor.to_hatchet(by_location=by_location, profiles="thread(0)")
    again = parallax.from_hatchet(frame)
    assert again.format.startswith("TAU")

    def values(tree: parallax.Tree) -> dict[tuple[str, ...], float]:
        # What has the same names is one call path there.
        found: dict[tuple[str, ...], float] = {}
        for context in tree:
            path = tuple(context.path)
            found[path] = found.get(path, 0.0) + (context.exclusive or 0.0)
        return {path: value for path, value in found.items() if value > 0}

    expected = values(parallax.Tree(reactor, reactor.tree_table(profiles="thread(0)")))
    found = values(again.tree)
    assert len(expected) > 10 and found.keys() == expected.keys()
    for path, value in expected.items():
        assert found[path] == pytest.approx(value, rel=1e-6, abs=1e-9), path
    if by_location:
        ranks = again.stacks().locations["rank"]
        assert sorted(ranks) == list(range(8))
    with pytest.raises(TypeError, match="no path"):
        import pickle

        pickle.dumps(again)
    with pytest.raises(parallax.MisuseError, match="no metric energy"):
        parallax.from_hatchet(frame, metrics=["energy"])


def test_frames_of_hatchet_itself_open(hatchet: Any) -> None:
    literal = [
        {
            "frame": {"name": "main", "type": "function"},
            "metrics": {"time (inc)": 10.0, "time": 1.0, "flops": 5.0},
            "children": [
                {
                    "frame": {"name": "solve", "type": "function"},
                    "metrics": {"time (inc)": 9.0, "time": 9.0, "flops": 7.0},
                }
            ],
        }
    ]
    opened = parallax.from_hatchet(hatchet.GraphFrame.from_literal(literal), seconds=1e-3)
    rows = opened.query(profiles="rank(0)", contexts="function(solve)")
    values = dict(zip(rows["metric"], rows["value"], strict=True))
    assert values["time (e)"] == pytest.approx(9e-3)
    assert values["flops (i)"] == 7.0
    main = opened.query(profiles="rank(0)", contexts="function(main)", metrics="flops (i)")
    assert main["value"] == [12.0]


def test_an_ensemble_is_a_thicket(thicket: Any, runs: parallax.Ensemble) -> None:
    made = runs.to_thicket(mpi=True)
    assert isinstance(made, thicket.Thicket)
    assert len(made.profile) == 9 and len(made.metadata) == 9
    assert made.dataframe.index.names == ["node", "profile"]
    assert set(made.metadata["title"]) == {"reactor"}
    stats = thicket.stats.mean(made, columns=["REALTIME (inc)"])
    assert stats


def test_iterations_are_a_thicket(thicket: Any, fixtures: Path) -> None:
    experiment = parallax.open(fixtures / "reactor/long-n512-p8")
    assert isinstance(experiment, parallax.Experiment)
    made = experiment.to_thicket(by_iteration=True)
    assert made.dataframe.index.names == ["node", "profile", "iteration"]
    cells = experiment.iterations(cells="all").cells
    assert made.dataframe["time"].sum() == pytest.approx(sum(cells["time_s"]))
    assert len(made.metadata) == len(set(cells["location"])) == 8
    means = made.dataframe.groupby(["node", "iteration"])["time"].mean()
    assert len(means) > 200


def test_an_ensemble_is_an_experiment_of_extrap(extrap: Any, runs: parallax.Ensemble) -> None:
    made = runs.to_extrap()
    assert [parameter.name for parameter in made.parameters] == ["cores", "size"]
    assert len(made.coordinates) == 9
    scaling = runs.scaling(fixed=[("size", "512")])
    regions, times, cores = scaling.reply.regions, scaling.cells["time"], scaling.reply.cores
    by_path = {
        (one.callpath.name, one.coordinate): one.median
        for one in made.measurements[(made.callpaths[0], made.metrics[0])]
    }
    whole = regions[0]["name"]
    for at, core in enumerate(cores):
        ((_, value),) = [
            (key, value) for key, value in by_path.items() if list(key[1]) == [core, 512.0]
        ]
        assert value == times[at], (whole, core)
    again = parallax.from_extrap(made)
    assert {one["name"] for one in again.scaling().reply.parameters} == {"cores", "size"}


@pytest.mark.parametrize("name", ["hatchet", "thicket", "extrap"])
def test_what_is_not_installed_is_named(
    name: str, fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    opened = parallax.open([fixtures / f"reactor/n256-p{ranks}" for ranks in (1, 2)])
    assert isinstance(opened, parallax.Ensemble)
    calls = {
        "hatchet": opened.experiments[0].to_hatchet,
        "thicket": opened.to_thicket,
        "extrap": opened.to_extrap,
    }
    with pytest.raises(parallax.MissingLibraryError, match=f"{name} is not installed") as caught:
        calls[name]()
    assert f"parallax[{name}]" in (caught.value.hint or "")
