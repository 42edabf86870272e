"""Columns of tables that stay on a device: a GPU, or the processor."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._errors import MisuseError, ParallaxWarning
from ._table import Table, import_library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._table import Field

# Numbers of devices in DLPack.
_CPU = (1, 0)
_BY_INTERFACE = {"Vulkan": 7, "Metal": 8}
_OTHER = 12


class Device(NamedTuple):
    """What tables can be on."""

    device: str
    """As it is asked for: ``cpu``, or ``gpu:N``."""
    name: str
    """Its name by its driver; of the processor, how many threads are used."""
    kind: str
    """``processor``; or ``discrete``, ``integrated``, ``virtual`` or ``software`` GPU."""
    interface: str
    """The programming interface that is used to access it."""
    driver: str
    """Its driver and the version of that."""


def devices() -> list[Device]:
    """The devices that tables can be on; the processor first, GPUs next, one in software last.

    There are no GPUs in packages that were built without the feature ``gpu``, nor without a driver for
    Vulkan, Metal or Direct3D 12.

    Examples
    --------
    >>> parallax.devices()[0].device
    'cpu'
    """
    return [Device(*row) for row in _native.devices()]


class DeviceTable:
    """Columns of equal length that stay on a device from one operation to the next.

    :meth:`Table.to_device` makes one. Operations give other tables on the same device; groups, counts
    and what ``to_table`` and the other conversions give are in the memory of the host. Results are the
    same on every device, bit for bit.

    Columns have whole numbers of 32 or 64 bits that are not negative, or names, which are in
    alphabetical order.
    """

    __slots__ = ("__weakref__", "_empty", "_native")

    def __init__(self, native: _native.DeviceTable) -> None:
        self._native = native
        self._empty = Table(native.empty())

    @property
    def device(self) -> str:
        """Where it is: ``cpu``, or ``gpu:N``."""
        return self._native.device

    @property
    def device_reason(self) -> str:
        """Why it is there."""
        return self._native.device_reason

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns: name, type, unit, display name and meaning."""
        return self._empty.fields

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._empty.columns

    @property
    def units(self) -> dict[str, str]:
        """The units of the columns that have one."""
        return self._empty.units

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._native.num_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return (self.num_rows, len(self.fields))

    def __len__(self) -> int:
        return self.num_rows

    def __bool__(self) -> bool:
        """A table without rows is a table."""
        return True

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> DeviceColumn:
        """A column, which libraries read by DLPack."""
        for field in self.fields:
            if field.name == name:
                return DeviceColumn(self, field)
        raise KeyError(name)

    def select(self, *columns: str) -> DeviceTable:
        """Some of the columns."""
        return DeviceTable(self._native.select(columns))

    def with_durations(
        self, name: str = "duration_ns", *, start: str = "start_ns", end: str = "end_ns"
    ) -> DeviceTable:
        """One more column: ``end`` minus ``start``, 0 where that is negative.

        Parameters
        ----------
        name
            What it is called.
        start, end
            The columns that are subtracted.

        Examples
        --------
        >>> samples.with_durations().filter("duration_ns", 1e6)
        """
        return DeviceTable(self._native.with_durations(name, start, end))

    def filter(
        self, column: str, minimum: float | str | None = None, maximum: float | str | None = None
    ) -> DeviceTable:
        """The rows in which a column has a value from ``minimum`` to ``maximum``, both included.

        Parameters
        ----------
        column
            The column.
        minimum, maximum
            Numbers, or names where the column has names; default: no limit.

        Examples
        --------
        >>> samples.filter("start_ns", maximum=2_000_000_000)
        """
        return DeviceTable(self._native.filter(column, minimum, maximum))

    def sort(self, *columns: str) -> DeviceTable:
        """The rows in ascending order of columns, the first of which matters most.

        Rows that are equal in all of them keep their order.
        """
        return DeviceTable(self._native.sort(columns))

    def head(self, num_rows: int = 10) -> DeviceTable:
        """The first rows."""
        return DeviceTable(self._native.rows(0, _count(num_rows)))

    def tail(self, num_rows: int = 10) -> DeviceTable:
        """The last rows."""
        return DeviceTable(self._native.rows(max(len(self) - _count(num_rows), 0), len(self)))

    def group(self, by: str | Sequence[str], *, of: str) -> Table:
        """Count, sum, least and greatest value, mean and variance of a column by one or two others.

        Sums are exact, and the variance is that of a population.

        Parameters
        ----------
        by
            One or two columns of 32 bits, such as ids and names; groups ascend by them.
        of
            The column whose values are summed.

        Returns
        -------
        Table
            A row for each group, in the memory of the host.

        Examples
        --------
        >>> samples.with_durations().group("context", of="duration_ns").to_pandas()
        """
        return Table(self._native.group([by] if isinstance(by, str) else by, of))

    def join(
        self,
        other: DeviceTable,
        on: str | None = None,
        *,
        left_on: str | None = None,
        right_on: str | None = None,
        suffix: str = "_right",
    ) -> DeviceTable:
        """The pairs of rows of two tables with equal keys (an inner join).

        It has the columns of this table, and those of the other one apart from its key.

        Parameters
        ----------
        other
            A table on the same device.
        on
            The key in both tables: a column of 32 bits.
        left_on, right_on
            The key of each, where they are called differently.
        suffix
            What names of the other table end with that this one has, too.

        Examples
        --------
        >>> contexts = experiment.sql("SELECT context_id, depth FROM contexts")
        >>> samples.join(contexts.to_device(samples.device), "context_id")
        """
        left, right = left_on or on, right_on or on
        if left is None or right is None:
            raise MisuseError("a join needs a key: `on`, or `left_on` and `right_on`")
        return DeviceTable(self._native.join(other._native, left, right, suffix))

    def histogram(self, column: str, edges: Sequence[int]) -> list[int]:
        """How many values a column has from each edge to the next one, that one excluded.

        The last interval includes its end.

        Parameters
        ----------
        column
            A column of numbers.
        edges
            Two or more whole numbers in ascending order.

        Examples
        --------
        >>> samples.with_durations().histogram("duration_ns", [0, 10**3, 10**6, 10**9])
        """
        whole = [int(edge) for edge in edges]
        if any(edge < 0 or edge != given for edge, given in zip(whole, edges, strict=True)):
            raise MisuseError("edges of a histogram are whole numbers that are not negative")
        return self._native.histogram(column, whole)

    def to_device(self, device: str = "auto") -> DeviceTable:
        """The same columns on another device, through the memory of the host."""
        return DeviceTable(self._native.to_device(device))

    def to_table(self) -> Table:
        """The same in the memory of the host; nothing is copied if it is there already."""
        return Table(self._native.to_table())

    def to_arrow(self) -> Any:
        """The same as a ``pyarrow.Table``."""
        return self.to_table().to_arrow()

    def to_pandas(self, **options: Any) -> Any:
        """The same as a ``pandas.DataFrame``; ``options`` are those of :meth:`Table.to_pandas`."""
        return self.to_table().to_pandas(**options)

    def to_polars(self) -> Any:
        """The same as a ``polars.DataFrame``."""
        return self.to_table().to_polars()

    def to_duckdb(self, connection: Any = None) -> Any:
        """The same as a relation of DuckDB, in ``connection`` or the default one."""
        return self.to_table().to_duckdb(connection)

    def to_cudf(self) -> Any:
        """The same as a ``cudf.DataFrame``: copied to the host, and from there to CUDA's memory."""
        return self.to_table().to_cudf()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A stream of Arrow record batches, in the memory of the host."""
        return self.to_table().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema in Arrow's C interface; nothing is copied from the device."""
        return self._empty.__arrow_c_schema__()

    def __reduce__(self) -> Any:
        raise TypeError("a table on a device is not pickled; what to_arrow and to_pandas give is")

    def __repr__(self) -> str:
        columns = ", ".join(f"{field.name} {field.type}" for field in self.fields)
        return f"<DeviceTable on {self.device}: {len(self)} rows; {columns}>"


class DeviceColumn:
    """A column of a :class:`DeviceTable`, which libraries read by DLPack.

    In the memory of the host, ``numpy.from_dlpack(column)`` and ``jax.numpy.from_dlpack(column)`` share
    the values, which must not be changed there. From a GPU, ``numpy.from_dlpack(column, device="cpu")``
    copies them. This needs pyarrow.
    """

    __slots__ = ("_field", "_table")

    def __init__(self, table: DeviceTable, field: Field) -> None:
        self._table = table
        self._field = field

    @property
    def name(self) -> str:
        """Its name."""
        return self._field.name

    @property
    def type(self) -> str:
        """The type of its values: ``u32``, ``u64`` or ``string``."""
        return self._field.type

    @property
    def unit(self) -> str:
        """The unit of its values; empty for counts, names and ids."""
        return self._field.unit

    @property
    def device(self) -> str:
        """Where it is: ``cpu``, or ``gpu:N``."""
        return self._table.device

    def __len__(self) -> int:
        return len(self._table)

    def to_arrow(self) -> Any:
        """The values as a ``pyarrow.Array``, in the memory of the host."""
        pyarrow = import_library("pyarrow", "arrow")
        chunks = pyarrow.table(Table(self._table._native.to_table([self.name])))[self.name]
        return chunks.chunk(0) if chunks.num_chunks else pyarrow.array([], chunks.type)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Type and number of the device, as DLPack has them."""
        interface = self._table._native.interface
        if not interface:
            return _CPU
        return (_BY_INTERFACE.get(interface, _OTHER), int(self.device.removeprefix("gpu:")))

    def __dlpack__(
        self,
        *,
        stream: object | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """A capsule of DLPack with the values in the memory of the host.

        Raises
        ------
        BufferError
            When the values are on a GPU and no copy was asked for, or are asked for elsewhere, or are
            names.
        """
        here = self.__dlpack_device__()
        wanted = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if self.type == "string":
            raise BufferError(f"`{self.name}` has names, which DLPack cannot pass; to_arrow() does")
        if wanted != _CPU:
            raise BufferError(
                f"`{self.name}` is on {self.device}, whose memory DLPack cannot pass on; copy it to the "
                "host: numpy.from_dlpack(column, device='cpu'), or to_arrow()"
                if here != _CPU
                else f"`{self.name}` is in the memory of the host, and DLPack cannot pass it elsewhere"
            )
        if here != _CPU and copy is False:
            raise BufferError(f"`{self.name}` is on {self.device}: it has to be copied to the host")
        if stream is not None:
            raise BufferError("the memory of the host has no streams")
        options: dict[str, Any] = {}
        if max_version is not None:
            options["max_version"] = max_version
        if copy:
            options["copy"] = True
        values = self.to_arrow()
        try:
            return values.__dlpack__(**options)
        except TypeError:
            # Before version 26, pyarrow has none of these.
            if copy:
                raise BufferError("pyarrow before version 26 makes no copies for DLPack") from None
            return values.__dlpack__()

    def __repr__(self) -> str:
        return f"<DeviceColumn {self.name} on {self.device}: {len(self)} values, {self.type}>"


def to_device(table: _native.Table, device: str, columns: Sequence[str] | None) -> DeviceTable:
    """Columns of a table on a device."""
    native, refused = _native.DeviceTable.of(table, device, columns)
    if refused:
        omitted = ", ".join(f"{name} ({why})" for name, why in refused)
        warnings.warn(f"columns omitted on {native.device}: {omitted}", ParallaxWarning, stacklevel=3)
    return DeviceTable(native)


def _count(num_rows: int) -> int:
    if num_rows < 0:
        raise MisuseError(f"{num_rows} is no number of rows")
    return num_rows
