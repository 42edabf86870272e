"""Tables of answers, and what other libraries make of them."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import MissingLibraryError, MisuseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from . import _native
    from ._device import DeviceTable

Value = bool | int | float | str | None
"""A value of a table."""

_SHOWN_ROWS = 10
_SHOWN_WIDTH = 40


class Field(NamedTuple):
    """What a column is."""

    name: str
    """Its name; stable across releases."""
    type: str
    """The type of its values: ``bool``, ``u16``, ``u32``, ``u64``, ``i64``, ``f64``, ``string``."""
    unit: str
    """Their unit; empty for counts, ratios, names and ids."""
    head: str
    """Its display name."""
    doc: str
    """What it means."""


class Table:
    """Columns of equal length with types, units and meanings.

    Any library that reads the Arrow PyCapsule interface takes a table as it is and without a copy:
    ``pyarrow.table(table)``, ``polars.DataFrame(table)``, ``duckdb.sql('select * from "table"')``.
    Texts that repeat are dictionaries: categories in data frames.
    """

    __slots__ = ("__weakref__", "_fields", "_native")

    def __init__(self, native: _native.Table) -> None:
        self._native = native
        self._fields: tuple[Field, ...] | None = None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A stream of Arrow record batches; each call gives a new one over the same values."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema in Arrow's C interface; unit, display name and meaning are metadata."""
        return self._native.__arrow_c_schema__()

    def __narwhals_dataframe__(self) -> Any:
        """For libraries that read data frames through Narwhals, such as Altair."""
        narwhals = import_library("narwhals", "altair")
        # Narwhals has an object of its own for each library, and no other way to reach it.
        return narwhals.from_native(self.to_arrow(), eager_only=True)._compliant_frame

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns: name, type, unit, display name and meaning."""
        if self._fields is None:
            self._fields = tuple(Field(*field) for field in self._native.fields())
        return self._fields

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    @property
    def units(self) -> dict[str, str]:
        """The units of the columns that have one."""
        return {field.name: field.unit for field in self.fields if field.unit}

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

    def __getitem__(self, name: str) -> list[Value]:
        """The values of a column as a list."""
        return self._native.column(name)

    def column(self, name: str, max_rows: int) -> list[Value]:
        """The first values of a column as a list."""
        return self._native.column(name, 0, max_rows)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def to_dicts(self) -> list[dict[str, Value]]:
        """The rows as dictionaries."""
        return list(self.rows())

    def rows(self) -> Iterator[dict[str, Value]]:
        """The rows as dictionaries, one after the other."""
        names = self.columns
        for values in zip(*(self[name] for name in names), strict=True):
            yield dict(zip(names, values, strict=True))

    def to_arrow(self) -> Any:
        """The same as a ``pyarrow.Table``, without a copy."""
        return import_library("pyarrow", "arrow").table(self)

    def to_pandas(self, **options: Any) -> Any:
        """The same as a ``pandas.DataFrame``; columns of numbers without nulls are not copied.

        ``options`` go to ``pyarrow.Table.to_pandas``. ``attrs["units"]`` has the units.
        """
        import_library("pandas", "pandas")
        frame = self.to_arrow().to_pandas(**{"split_blocks": True, **options})
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> Any:
        """The same as a ``polars.DataFrame``, without a copy of numbers."""
        return import_library("polars", "polars").DataFrame(self)

    def to_duckdb(self, connection: Any = None) -> Any:
        """The same as a relation of DuckDB, in ``connection`` or the default one."""
        duckdb = import_library("duckdb", "duckdb")
        return (duckdb if connection is None else connection).from_arrow(self)

    def to_cudf(self) -> Any:
        """The same as a ``cudf.DataFrame``, in the memory of a GPU."""
        return import_library("cudf", "cudf").DataFrame.from_arrow(self.to_arrow())

    def to_device(self, device: str = "auto", *, columns: Sequence[str] | None = None) -> DeviceTable:
        """Its columns on a device, where they stay from one operation to the next.

        Whole numbers that are not negative can be there, and names; not nulls.

        Parameters
        ----------
        device
            ``cpu``, ``gpu`` or ``gpu:N``, as :func:`devices` lists them; ``auto`` is a GPU for large
            tables, where there is one.
        columns
            The columns; default: all that can be there, with a warning about the others.

        Raises
        ------
        DeviceError
            When the device is not there, or has no room.

        Examples
        --------
        >>> samples = experiment.trace().to_device("gpu:0")
        """
        from ._device import to_device

        return to_device(self._native, device, columns)

    def __reduce__(self) -> Any:
        # Its values belong to the engine of this process.
        raise TypeError("a table is not pickled; what to_arrow, to_pandas and to_dicts give is")

    def _cells(self) -> tuple[list[list[str]], list[bool]]:
        """The rows that are shown as text, and which columns are numbers."""
        columns = [
            [_text(value) for value in self._native.column(field.name, 0, _SHOWN_ROWS)]
            for field in self.fields
        ]
        is_number = [field.type not in ("string", "bool") for field in self.fields]
        return [list(row) for row in zip(*columns, strict=True)], is_number

    def _more(self) -> str:
        more = self.num_rows - _SHOWN_ROWS
        return f"{self.num_rows} rows, {len(self.fields)} columns" if more > 0 else ""

    def __repr__(self) -> str:
        rows, is_number = self._cells()
        if not self.fields:
            return "Table without columns"
        heads = [f"{field.name} ({field.unit})" if field.unit else field.name for field in self.fields]
        widths = [
            max(len(head), *(len(row[at]) for row in rows)) if rows else len(head)
            for at, head in enumerate(heads)
        ]

        def line(cells: list[str]) -> str:
            padded = [
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(cells, widths, is_number, strict=True)
            ]
            return "  ".join(padded).rstrip()

        lines = [line(heads), line(["─" * width for width in widths]), *(line(row) for row in rows)]
        if more := self._more():
            lines.append(f"… {more}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows, is_number = self._cells()
        heads = "".join(
            f'<th title="{escape(field.doc)}" style="text-align:{"right" if number else "left"}">'
            f"{escape(field.head)}{f' ({escape(field.unit)})' if field.unit else ''}</th>"
            for field, number in zip(self.fields, is_number, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:{"right" if number else "left"}">{escape(cell)}</td>'
                for cell, number in zip(row, is_number, strict=True)
            )
            + "</tr>"
            for row in rows
        )
        foot = f"<p>{self._more()}</p>" if self._more() else ""
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div>{table}{foot}</div>"


def _text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return text if len(text) <= _SHOWN_WIDTH else f"{text[: _SHOWN_WIDTH - 1]}…"


def import_library(name: str, extra: str) -> Any:
    """An optional library, which may not be installed."""
    package = name.partition(".")[0]
    try:
        import_module(package)
        return import_module(name)
    except ModuleNotFoundError as error:
        # One that is there and does not load, such as for an old NumPy, says itself why.
        if error.name != package:
            raise
        how = f"pip install 'parallax[{extra}]'"
        if extra == "cudf":
            how = "see https://docs.rapids.ai/install; it needs a GPU of NVIDIA"
        raise MissingLibraryError(f"{package} is not installed", how) from None


def main_table(tables: dict[str, Table], question: str) -> Table:
    """The table that an answer stands for."""
    for table in tables.values():
        return table
    raise MisuseError(f"the answer to `{question}` has no table", "its reply has the values")
