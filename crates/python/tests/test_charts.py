"""Charts: answers as Vega-Lite, and tables in Altair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import parallax
from parallax._charts import _CHARTS

altair = pytest.importorskip("altair", reason="Altair is not installed")


def valid(chart: Any) -> Any:
    """The chart in Altair, which holds it against the schema of Vega-Lite."""
    return altair.Chart.from_dict(json.loads(json.dumps(chart)), validate=True)


def test_a_chart_has_the_values_and_units_of_its_table(reactor: parallax.Experiment) -> None:
    flat = reactor.flat(by="function")
    chart = flat.chart()
    rows = chart["data"]["values"]
    assert rows[0] == {"exclusive": flat["exclusive"][0], "name": flat["name"][0]}
    assert len(rows) == min(len(flat), 30)
    assert chart["encoding"]["x"]["title"] == "Exclusive (s)"
    # The order is that of the table, not of the alphabet.
    assert chart["encoding"]["y"]["sort"] is None
    assert valid(chart).to_dict()["encoding"] == chart["encoding"]
    few = flat.chart(max_rows=3)
    assert len(few["data"]["values"]) == 3
    assert few["description"] == f"the first 3 of {len(flat)} rows"
    (mime,) = set(chart._repr_mimebundle_()) - {"text/plain"}
    assert mime == "application/vnd.vegalite.v5+json"


def test_analyses_of_all_sorts_have_charts(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALLAX_CACHE", str(tmp_path))
    run = parallax.open(fixtures / "reactor/long-n512-p8")
    other = parallax.open(fixtures / "reactor/n512-p8")
    ensemble = parallax.open(
        [fixtures / f"reactor/n1024-p{ranks}" for ranks in (1, 2, 4, 8)],
        parameters=["cores=ranks"],
    )
    assert isinstance(run, parallax.Experiment) and isinstance(other, parallax.Experiment)
    assert isinstance(ensemble, parallax.Ensemble)
    answers = [
        run.flat(),
        run.balance(),
        run.distribution(context_id=run.tree["function(react)"][0].id),
        run.stats(),
        run.report(),
        run.over_time(what="profile"),
        run.over_time(what="idle"),
        run.iterations(),
        run.idleness(),
        run.clusters(),
        ensemble.scaling_table(table="maps"),
        ensemble.scaling_table(table="losses"),
    ]
    for answer in answers:
        chart = answer.chart()
        assert chart["data"]["values"], answer.question
        valid(chart)


def test_charts_are_of_questions_that_there_are(reactor: parallax.Experiment) -> None:
    for name in _CHARTS:
        assert hasattr(parallax.Experiment, name) or hasattr(parallax.Ensemble, name), name
    with pytest.raises(parallax.MisuseError, match="no chart of `info`") as caught:
        reactor.ask("info").chart()
    assert "balance" in (caught.value.hint or "")


def test_altair_takes_tables_and_answers_as_they_are(reactor: parallax.Experiment) -> None:
    balance = reactor.balance(profiles="thread(0)")
    for data in (balance, balance.rows):
        chart = altair.Chart(data).mark_bar().encode(x="max:Q", y="name:N").to_dict()
        ((_, values),) = chart["datasets"].items()
        assert [row["name"] for row in values] == balance["name"]
        assert values[0]["max"] == balance["max"][0]
