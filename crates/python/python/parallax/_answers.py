"""Answers: a reply, whose values are attributes, and tables."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, cast

from ._charts import Chart, chart_of
from ._table import Table, main_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from . import _native
    from ._device import DeviceTable
    from ._table import Value


class Record:
    """Values by name, as attributes and as items."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        values = self._values
        # `from` is no name in Python: `from_` is.
        for key in (name, name.removesuffix("_")):
            if key in values:
                return values[key]
        known = ", ".join(values) or "nothing"
        raise AttributeError(f"there is no `{name}` here; there is {known}")

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record):
            return self._values == other._values
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return (Record, (self._values,))

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries and lists."""
        return {name: _plain(value) for name, value in self._values.items()}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"Record({values})"


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(one) for one in cast("list[Any]", value)]
    return value


def parse(text: str) -> Record:
    """A reply, which is a JSON object."""
    return json.loads(text, object_hook=Record)


class Answer:
    """The answer to a question.

    Its tables and the values of its reply are attributes. Where a library reads Arrow, an answer
    stands for its first table.
    """

    __slots__ = ("__weakref__", "question", "reply", "tables")

    question: str
    """The name of the question."""
    reply: Record
    """What is not a table."""
    tables: dict[str, Table]
    """The tables by name."""

    def __init__(self, question: str, reply: Record, tables: dict[str, Table]) -> None:
        self.question = question
        self.reply = reply
        self.tables = tables

    @classmethod
    def of(cls, question: str, reply: str, tables: list[tuple[str, _native.Table]]) -> Answer:
        """The answer that the engine gave."""
        return cls(question, parse(reply), {name: Table(table) for name, table in tables})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in Answer.__slots__:
            raise AttributeError(name)
        if name in self.tables:
            return self.tables[name]
        if name in self.reply or name.removesuffix("_") in self.reply:
            return getattr(self.reply, name)
        known = ", ".join([*self.tables, *self.reply]) or "nothing"
        message = f"the answer to `{self.question}` has no `{name}`; it has {known}"
        raise AttributeError(message)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables, *self.reply]

    @property
    def table(self) -> Table:
        """The first table."""
        return main_table(self.tables, self.question)

    def __getitem__(self, name: str) -> list[Value]:
        """The values of a column of the first table."""
        return self.table[name]

    def __len__(self) -> int:
        """Number of rows of the first table."""
        return len(self.table)

    def __bool__(self) -> bool:
        """An answer without rows is an answer."""
        return True

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The first table as a stream of Arrow record batches."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema of the first table."""
        return self.table.__arrow_c_schema__()

    def __narwhals_dataframe__(self) -> Any:
        """The first table, as Altair reads data frames."""
        return self.table.__narwhals_dataframe__()

    def to_arrow(self) -> Any:
        """The first table as a ``pyarrow.Table``."""
        return self.table.to_arrow()

    def to_pandas(self, **options: Any) -> Any:
        """The first table as a ``pandas.DataFrame``."""
        return self.table.to_pandas(**options)

    def to_polars(self) -> Any:
        """The first table as a ``polars.DataFrame``."""
        return self.table.to_polars()

    def to_duckdb(self, connection: Any = None) -> Any:
        """The first table as a relation of DuckDB."""
        return self.table.to_duckdb(connection)

    def to_cudf(self) -> Any:
        """The first table as a ``cudf.DataFrame``."""
        return self.table.to_cudf()

    def to_device(self, device: str = "auto", *, columns: Sequence[str] | None = None) -> DeviceTable:
        """The first table on a device: :meth:`Table.to_device`."""
        return self.table.to_device(device, columns=columns)

    def chart(self, max_rows: int = 5_000) -> Chart:
        """A specification of Vega-Lite, which is a dictionary, with the values of the first rows.

        JupyterLab and VS Code draw it; ``altair.Chart.from_dict(answer.chart())`` goes on with it.
        """
        return chart_of(self, max_rows)

    def __repr__(self) -> str:
        parts = [f"{name}: {value!r}" for name, value in _short(self.reply)]
        parts += [f"{name}:\n{table!r}" for name, table in self.tables.items()]
        return "\n".join(parts) or f"<empty answer to {self.question}>"

    def _repr_html_(self) -> str:
        values = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(repr(value))}</dd>"
            for name, value in _short(self.reply)
        )
        tables = "".join(
            f"<details open><summary>{escape(name)}</summary>{table._repr_html_()}</details>"
            for name, table in self.tables.items()
        )
        return f"<dl>{values}</dl>{tables}" if values else tables


def _short(reply: Record) -> list[tuple[str, Any]]:
    """The values of a reply that say something."""
    return [(name, reply[name]) for name in reply if reply[name] not in ([], None)]
