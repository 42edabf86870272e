"""Data and tools of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
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


@pytest.fixture
def said_in_fork() -> Callable[[Callable[[], object]], str]:
    """Asks something in a forked process, and gives what the error there says."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")

    def ask(question: Callable[[], object]) -> str:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = "another error"
            try:
                question()
                said = "answered"
            except parallax.ForkError as error:
                said = str(error)
            finally:
                # Nothing of the test goes on here, whatever was raised.
                os.write(write, said.encode())
                os._exit(0)
        os.close(write)
        os.waitpid(child, 0)
        said = os.read(read, 4096).decode()
        os.close(read)
        return said

    return ask
