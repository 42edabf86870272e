"""What opens, what it is, and how it ends."""

from __future__ import annotations

import gc
import json
import os
import pickle
import shutil
import warnings
from pathlib import Path

import pytest

import parallax

CHROME = {
    "traceEvents": [
        {"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 10, "dur": 100},
        {"ph": "X", "name": "solve", "pid": 1, "tid": 1, "ts": 20, "dur": 30.5},
    ]
}


def test_a_database_is_an_experiment(reactor: parallax.Experiment) -> None:
    assert reactor.title == "reactor"
    assert reactor.format.startswith("HPCToolkit")
    assert reactor.path.endswith("n1024-p8")
    assert reactor.size_bytes > 0
    assert "reactor" in repr(reactor) and "<b>Experiment</b>" in reactor._repr_html_()


def test_a_file_of_a_database_is_the_database(fixtures: Path) -> None:
    opened = parallax.open(fixtures / "reactor/n1024-p8/meta.db")
    assert isinstance(opened, parallax.Experiment) and opened.title == "reactor"


@pytest.mark.parametrize(
    ("path", "kind", "start"),
    [
        ("reactor/n1024-p8", parallax.Experiment, "HPCToolkit"),
        ("callgrind/callgrind.out.orbit-01", parallax.Experiment, "Callgrind"),
        ("measured/image.plxm", parallax.Experiment, "Parallax"),
        ("otf2/all-records", parallax.Experiment, "OTF2"),
        ("pascal/solver-v1.json", parallax.Ensemble, "PaScal"),
        ("reactor-tau", (parallax.Experiment, parallax.Ensemble), "TAU"),
    ],
)
def test_every_format_opens(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, kind: type, start: str
) -> None:
    monkeypatch.setenv("PARALLAX_CACHE", str(tmp_path))
    opened = parallax.open(fixtures / path)
    assert isinstance(opened, kind), opened
    assert start in opened.format


def test_runs_are_an_ensemble_with_their_experiments(fixtures: Path) -> None:
    runs = [fixtures / f"reactor/n1024-p{ranks}" for ranks in (1, 2, 4, 8)]
    ensemble = parallax.open(runs, parameters=["cores=ranks"])
    assert isinstance(ensemble, parallax.Ensemble) and len(ensemble) == 4
    scaling = ensemble.scaling()
    assert scaling.reply.cores == [1, 2, 4, 8]
    html = ensemble._repr_html_()
    assert "<b>Ensemble</b>" in html and all(f"n1024-p{ranks}<" in html for ranks in (1, 2, 4, 8))
    again = parallax.Ensemble.of(ensemble.experiments, parameters=["cores=ranks"])
    assert again.scaling().reply.cores == [1, 2, 4, 8]
    with pytest.raises(parallax.MisuseError, match="no option `parameter`"):
        parallax.open_all(runs, parameter=["cores=ranks"])


def test_a_large_trace_is_converted_once_into_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALLAX_CACHE", str(tmp_path / "cache"))
    events = [
        {"ph": "X", "name": f"f{at % 9}", "cat": "work", "pid": 1, "tid": 1, "ts": at * 4, "dur": 3}
        for at in range(120_000)
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    assert trace.stat().st_size > 8 << 20
    first = parallax.open(trace)
    assert isinstance(first, parallax.Experiment) and first.has_trace
    kept = list((tmp_path / "cache").iterdir())
    assert [one.name.startswith("trace-") for one in kept] == [True]
    made = kept[0].stat().st_mtime_ns
    assert parallax.open(trace).info().calls == first.info().calls == 120_000
    assert list((tmp_path / "cache").iterdir())[0].stat().st_mtime_ns == made


def test_traces_of_several_paths_are_converted_too(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(json.dumps(CHROME))
    opened = parallax.open_all([tmp_path / "a.json", tmp_path / "b.json"])
    experiments = [item for item in opened if isinstance(item, parallax.Experiment)]
    assert [item.info().calls for item in experiments] == [2, 2]


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(parallax.OpenError, match="No such file"):
        parallax.open(tmp_path / "absent")
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(OSError, match=r"nothing to open in .*notes\.txt") as caught:
        parallax.open(tmp_path)
    assert isinstance(caught.value, parallax.ParallaxError)
    with pytest.raises(parallax.MisuseError, match="no path"):
        parallax.open([])


def test_several_things_that_do_not_belong_together_are_named(fixtures: Path) -> None:
    paths = [fixtures / "reactor/n1024-p8", fixtures / "callgrind/callgrind.out.orbit-01"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", parallax.ParallaxWarning)
        with pytest.raises(parallax.OpenError, match="do not belong together") as caught:
            parallax.open(paths)
        assert caught.value.hint is not None and "open_all" in caught.value.hint
        assert len(parallax.open_all(paths)) == 2


def test_a_pickle_is_the_paths(reactor: parallax.Experiment) -> None:
    again = pickle.loads(pickle.dumps(reactor))
    assert (again.path, again.title) == (reactor.path, reactor.title)
    assert again.info().contexts == reactor.info().contexts
    combined = parallax.Ensemble.of([reactor, again])
    with pytest.raises(TypeError, match="combined"):
        pickle.dumps(combined)


def test_a_database_that_is_deleted_can_still_be_read(fixtures: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(fixtures / "reactor/n1024-p8", copy)
    experiment = parallax.open(copy)
    expected = experiment.query(metrics="realtime (i)")["value"]
    shutil.rmtree(copy)
    assert experiment.query(metrics="realtime (i)")["value"] == expected


def test_a_file_that_is_shortened_is_an_error_and_not_the_end(fixtures: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(fixtures / "reactor/n1024-p8", copy)
    experiment = parallax.open(copy)
    os.truncate(copy / "profile.db", 4096)
    with pytest.raises(parallax.ReadError):
        experiment.query(profiles="rank(0)", metrics="realtime (i)")


def _memory_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_what_is_dropped_is_closed(fixtures: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc here, which says how much memory is used")
    path = fixtures / "reactor/n1024-p1"

    def cycles(number: int) -> int:
        for _ in range(number):
            parallax.open(path).query(profiles="summary", metrics="realtime (i)")
        gc.collect()
        return _memory_kib()

    cycles(100)
    before = cycles(100)
    # What stayed open would be far more than that for each of 600.
    assert cycles(600) - before < 16 << 10
