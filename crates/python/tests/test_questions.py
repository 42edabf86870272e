"""Questions: fields, answers, errors; and that all of them are there."""

from __future__ import annotations

import inspect
import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

import parallax
from parallax import _questions


def test_names_of_python_stand_for_fields(reactor: parallax.Experiment) -> None:
    below = reactor.flat(from_="function(main)", mpi=True, metric="realtime (i)")
    whole = reactor.flat(metric="realtime (i)")
    assert below.cost.metric == whole.cost.metric
    assert len(below.rows) < len(whole.rows)
    by_name = reactor.ask(
        "flat", **{"from": "function(main)", "prune": {"mpi": True}, "cost": {"metric": "realtime (i)"}}
    )
    assert by_name.rows.to_dicts() == below.rows.to_dicts()


def test_replies_are_attributes(reactor: parallax.Experiment) -> None:
    info = reactor.info()
    assert info.title == "reactor" and info.reply["title"] == "reactor"
    assert isinstance(info.contexts, int)
    assert info.kinds[0].to_dict() == info.reply["kinds"][0].to_dict()
    with pytest.raises(AttributeError, match="no `contxts`; it has"):
        _ = info.contxts
    with pytest.raises(AttributeError, match="there is no `nam` here"):
        _ = info.kinds[0].nam
    assert "contexts" in dir(info)
    with pytest.raises(parallax.MisuseError, match="has no table"):
        reactor.issues().to_arrow()


def test_errors_have_the_words_of_the_command_line(reactor: parallax.Experiment) -> None:
    with pytest.raises(parallax.MisuseError) as caught:
        reactor.query(contexts="function(")
    assert "expected a name" in caught.value.message and "^" in caught.value.message
    with pytest.raises(ValueError, match="no function MPI_Sen") as caught:
        reactor.query(contexts="function(MPI_Sen)")
    with pytest.raises(parallax.MisuseError, match="`flat` has no field `bye`; it has"):
        reactor.ask("flat", bye="function")
    with pytest.raises(parallax.MisuseError, match="unknown variant `functions`"):
        reactor.flat(by="functions")  # type: ignore[arg-type]


def test_two_experiments_are_compared(fixtures: Path) -> None:
    old, new = (parallax.open(fixtures / f"reactor/n{size}-p8") for size in (256, 1024))
    assert isinstance(old, parallax.Experiment) and isinstance(new, parallax.Experiment)
    answer = old.differences(new)
    assert {"old", "new", "difference"} <= set(answer.rows.columns)


def test_a_question_of_an_ensemble_is_not_for_an_experiment(reactor: parallax.Experiment) -> None:
    assert not hasattr(reactor, "scaling")
    with pytest.raises(parallax.MisuseError, match="is one experiment"):
        reactor.ask("scaling")


def test_every_question_has_a_documented_method() -> None:
    classes = (
        _questions.ItemQuestions,
        _questions.ExperimentQuestions,
        _questions.EnsembleQuestions,
    )
    methods = {
        name: method
        for one in classes
        for name, method in vars(one).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    assert len(methods) > 40
    for name, method in methods.items():
        doc = inspect.getdoc(method) or ""
        assert "Returns\n-------" in doc, name
        for parameter in list(inspect.signature(method).parameters)[1:]:
            assert f"\n{parameter}" in doc, (name, parameter)
    assert "(f64 in the unit of the metric)" in (inspect.getdoc(methods["flat"]) or "")


def test_the_command_line_gives_the_same_values(
    reactor: parallax.Experiment, fixtures: Path
) -> None:
    # The tool that was installed together with the package.
    tool = Path(sysconfig.get_path("scripts")) / "parallax"
    words = ["--profiles", "rank(0-1)", "--contexts", "function(MPI_*)", "--format", "json"]
    run = subprocess.run(
        [tool, "query", fixtures / "reactor/n1024-p8", *words], capture_output=True, check=True
    )
    expected = json.loads(run.stdout)
    rows = reactor.query(profiles="rank(0-1)", contexts="function(MPI_*)").rows
    names = [column["name"] for column in expected["columns"]]
    assert rows.columns == names
    assert [list(row.values()) for row in rows.to_dicts()] == expected["rows"]


def test_the_tree_is_the_table(reactor: parallax.Experiment) -> None:
    tree = reactor.tree
    assert tree is reactor.tree and len(tree) == tree.table.num_rows
    assert [context.parent for context in tree.roots] == [None] * len(tree.roots)
    assert sum(1 for root in tree.roots for _ in root.walk()) == len(tree)
    found = tree.find("function(MPI_Allreduce)")
    assert found and all("MPI_Allreduce" in context.name for context in found)
    deep = found[0]
    assert deep.path[-1] == deep.name and len(deep.path) == deep.depth + 1
    assert deep.parent is not None and deep in deep.parent.children
    assert deep == tree[deep.id] and deep.id in tree and 10**9 not in tree
    values = deep.query(profiles="rank(0)", metrics="realtime (i)")
    assert set(values.rows["context_id"]) == {deep.id}
    inclusive = [child.inclusive or 0.0 for child in deep.parent.children]
    assert inclusive == sorted(inclusive, reverse=True)
    assert str(deep.id) in repr(deep) and "inclusive" in repr(tree)


def test_the_tree_is_sliced_by_expressions(reactor: parallax.Experiment) -> None:
    tree = reactor.tree
    assert tree["function(MPI_*)"] == tree.find("function(MPI_*)") != []
    react = max(tree["function(react)"], key=lambda context: context.inclusive or 0)
    below = react.find("function")
    assert react in below and {context.id for context in below} < {one.id for one in react.walk()}
    assert all(context.path[: len(react.path)] == react.path for context in below)
    html = react._repr_html_()
    assert f"<b>{react.name}</b>" in html and "inclusive" in html and " s</td>" in html
    with pytest.raises(parallax.MisuseError, match="no function nothing"):
        tree["function(nothing)"]


def test_sources_without_a_summary_are_sliced_too(fixtures: Path) -> None:
    opened = parallax.open(fixtures / "otf2/all-records")
    assert isinstance(opened, parallax.Experiment)
    names = {context.name for context in opened.tree}
    found = {context.name for context in opened.tree["function"]}
    assert found and found <= names
