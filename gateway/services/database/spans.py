"""Statements in traces: a span for each, named by its verb and table, without text and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gateway.toolkit.spans import begin, is_recording

if TYPE_CHECKING:
    from sqlalchemy import Engine

_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|TABLE)\s+([\w.\"]+)", re.IGNORECASE)
_KEY = "porch_span"
"""Where a connection keeps the span of its statement, of which it has one at a time."""


def trace_statements(engine: Engine) -> None:
    """Have the statements of an engine make spans, where traces are exported."""
    if not is_recording():
        return
    from sqlalchemy import event

    event.listen(engine, "before_cursor_execute", _begin)
    event.listen(engine, "after_cursor_execute", _end)
    event.listen(engine, "handle_error", _failed)


def _begin(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
    verb = statement.split(maxsplit=1)[0].upper()
    table = _TABLE.search(statement)
    attributes = {"db.system.name": connection.dialect.name, "db.operation.name": verb}
    name = f"{verb} {table[1]}" if table else verb
    connection.info[_KEY] = begin(name, attributes)


def _end(connection: Any, *_: Any) -> None:
    if (begun := connection.info.pop(_KEY, None)) is not None:
        begun.end()


def _failed(context: Any) -> None:
    from opentelemetry.trace import Status, StatusCode

    connection = context.connection
    if connection is None or connection.closed:
        return
    if (begun := connection.info.pop(_KEY, None)) is not None:
        begun.set_attribute("error.type", type(context.original_exception).__qualname__)
        begun.set_status(Status(StatusCode.ERROR))
        begun.end()
