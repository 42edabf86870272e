"""plotnine draws tables as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import parallax

plotnine = pytest.importorskip("plotnine", reason="plotnine is not installed")


def test_plotnine_draws_an_answer_and_a_table(
    reactor: parallax.Experiment, tmp_path: Path
) -> None:
    balance = reactor.balance(profiles="thread(0)")
    for data in (balance, balance.rows):
        picture = plotnine.ggplot(data, plotnine.aes(x="name", y="max")) + plotnine.geom_col()
        path = tmp_path / "picture.svg"
        picture.save(path, verbose=False)
        text = path.read_text()
        assert "<svg" in text
        # Each bar is a path of its own.
        assert text.count("<path") > len(balance)
        path.unlink()
