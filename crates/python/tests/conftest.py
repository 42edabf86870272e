"""Data and tools of the tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import parallax

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The data of the repository."""
    return FIXTURES


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The databases of the field, which lie outside the repository."""
    folder = Path(os.environ.get("PARALLAX_CORPUS") or ROOT.parent / "shared")
    if not (folder / "data").is_dir():
        if os.environ.get("PARALLAX_REQUIRE_CORPUS"):
            pytest.fail(f"there is no corpus at {folder}")
        pytest.skip("no corpus (PARALLAX_CORPUS names its folder)")
    return folder


@pytest.fixture
def reactor() -> parallax.Experiment:
    """Eight ranks of a small MPI program, measured by HPCToolkit."""
    opened = parallax.open(FIXTURES / "reactor/n1024-p8")
    assert isinstance(opened, parallax.Experiment)
    return opened
