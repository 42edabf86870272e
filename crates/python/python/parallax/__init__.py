"""Parallax: performance analysis of parallel programs, from profiles and traces.

``open`` takes a path of any format that Parallax reads, or several, and gives an
:class:`Experiment` or an :class:`Ensemble`. Each question is a method of it; each answer has a reply
and tables, which any reader of Arrow takes without a copy.

>>> import parallax
>>> experiment = parallax.open("hpctoolkit-database")
>>> experiment.query(profiles="rank(0-9)", contexts="function(MPI_*)").to_pandas()
"""

from ._answers import Answer, Record
from ._device import Device, DeviceColumn, DeviceTable, devices
from ._errors import (
    CancelledError,
    DefectError,
    DeviceError,
    ForkError,
    MisuseError,
    MissingLibraryError,
    OpenError,
    ParallaxError,
    ParallaxWarning,
    ReadError,
)
from ._native import __version__
from ._open import Ensemble, Experiment, from_extrap, from_hatchet, open, open_all
from ._progress import show_progress
from ._stream import TableStream
from ._table import Field, Table
from ._tree import Context, Tree

__all__ = [
    "Answer",
    "CancelledError",
    "Context",
    "DefectError",
    "Device",
    "DeviceColumn",
    "DeviceError",
    "DeviceTable",
    "Ensemble",
    "Experiment",
    "Field",
    "ForkError",
    "MissingLibraryError",
    "MisuseError",
    "OpenError",
    "ParallaxError",
    "ParallaxWarning",
    "ReadError",
    "Record",
    "Table",
    "TableStream",
    "Tree",
    "__version__",
    "devices",
    "from_extrap",
    "from_hatchet",
    "open",
    "open_all",
    "show_progress",
]
