"""Tables that are larger than memory, one part after the other."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._answers import Answer
from ._errors import MisuseError
from ._table import Table, import_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from . import _native
    from ._open import Experiment

_STREAMED = ("query", "trace")


class TableStream:
    """The rows of a question in parts, each asked when a reader comes to it.

    Any library that reads the Arrow PyCapsule interface takes it; one that reads part by part, such
    as DuckDB or a ``pyarrow.RecordBatchReader``, needs the memory of one part. Each reader begins
    anew. A ``for`` loop gives a :class:`Table` for each part.
    """

    __slots__ = ("__weakref__", "_experiment", "_made", "_native", "_requests", "question")

    question: str
    """The name of the question."""

    def __init__(
        self, experiment: Experiment, native: _native.Stream, question: str, requests: list[str]
    ) -> None:
        self.question = question
        self._experiment = experiment
        self._native = native
        self._requests = requests
        self._made: tuple[dict[str, Any], int] = ({}, 0)

    @classmethod
    def of(
        cls, experiment: Experiment, question: str, fields: dict[str, Any], profiles_per_part: int
    ) -> TableStream:
        """The parts of a question, by profile number."""
        if question not in _STREAMED:
            raise MisuseError(
                f"`{question}` has no rows by profile", f"those of {' and '.join(_STREAMED)} come in parts"
            )
        if profiles_per_part < 1:
            raise MisuseError("a part has at least one profile")
        chosen = fields.get("profiles")
        last = int(experiment.info().reply["locations"])
        # The last part has whatever follows.
        starts = range(0, last + 1, profiles_per_part)
        requests: list[str] = []
        for start in starts:
            is_last = start + profiles_per_part > last
            end = "" if is_last else start + profiles_per_part - 1
            part = f"profile({start}-{end})"
            expression = part if chosen is None else f"({chosen}) & {part}"
            requests.append(experiment._request(question, {**fields, "profiles": expression}))
        native = experiment._engine().stream(experiment._native, requests, "rows")
        made = cls(experiment, native, question, requests)
        made._made = (fields, profiles_per_part)
        return made

    def __reduce__(self) -> Any:
        return (TableStream.of, (self._experiment, self.question, *self._made))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A stream of Arrow record batches, one for each part."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        """Number of parts."""
        return len(self._requests)

    def __iter__(self) -> Iterator[Table]:
        for request in self._requests:
            fields = json.loads(request)["with"]
            fields.pop("item")
            answer: Answer = self._experiment.ask(self.question, **fields)
            yield answer.table

    def to_reader(self) -> Any:
        """A ``pyarrow.RecordBatchReader``, for what reads or writes part by part."""
        return import_library("pyarrow", "arrow").RecordBatchReader.from_stream(self)

    def to_arrow(self) -> Any:
        """All parts as one ``pyarrow.Table``, in memory."""
        return import_library("pyarrow", "arrow").table(self)

    def to_pandas(self, **options: Any) -> Any:
        """All parts as one ``pandas.DataFrame``, in memory."""
        import_library("pandas", "pandas")
        # Parts may have different dictionaries, and pandas has one for a column.
        return self.to_arrow().unify_dictionaries().to_pandas(**{"split_blocks": True, **options})

    def to_polars(self) -> Any:
        """All parts as one ``polars.DataFrame``, in memory."""
        return import_library("polars", "polars").DataFrame(self)

    def to_duckdb(self, connection: Any = None) -> Any:
        """A relation of DuckDB, which reads part by part what a query needs."""
        duckdb = import_library("duckdb", "duckdb")
        return (duckdb if connection is None else connection).from_arrow(self)

    def __repr__(self) -> str:
        return f"<TableStream of `{self.question}`: {len(self)} parts>"
