"""An error of the database in one line: its kind and reason, never a statement or a value.

SQLAlchemy's errors quote the statement with its parameters, and PostgreSQL's the row that was
refused. Either would put what people store, and with it secrets, into logs and answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine.interfaces import ExceptionContext

_VALUES = "22"
"""PostgreSQL's class of codes for values that it does not take; their messages quote the value."""
_BAD_VALUE = "a value does not fit its column or parameter"


def without_values(engine: Engine) -> None:
    """Have the errors of an engine say what failed, and not with what."""
    from sqlalchemy import event

    event.listen(engine, "handle_error", _cleaned)


def _cleaned(context: ExceptionContext) -> None:
    error: Any = context.sqlalchemy_exception
    if error is None:
        return
    original: Any = error.orig
    error.statement = error.params = None
    error.code = None  # and with it the line that leads to SQLAlchemy's pages
    kind = f"{type(original).__module__}.{type(original).__name__}"
    message = _safe_message(error, original)
    error.args = (f"({kind}) {message}",)
    for each in _causes(original):
        each.args = (message, *each.args[1:])
        for name in ("detail", "hint", "query", "internal_query", "context"):
            if getattr(each, name, None) is not None:
                setattr(each, name, None)


def _safe_message(error: Any, original: Any) -> str:
    """The first line of the driver's message, if it cannot hold a value."""
    from sqlalchemy.exc import DBAPIError

    state = str(getattr(original, "sqlstate", None) or "")
    cause = getattr(original, "__cause__", None)
    if not isinstance(error, DBAPIError) or state.startswith(_VALUES):
        return _BAD_VALUE
    if isinstance(cause, ValueError):  # asyncpg could not encode it
        return _BAD_VALUE
    lines = str(original).removeprefix(f"{type(cause)}: ").splitlines()
    return lines[0] if lines else type(original).__name__


def _causes(error: BaseException | None) -> Iterator[Any]:
    """The error and what it was raised from, which a traceback shows too."""
    while error is not None:
        yield error
        error = error.__cause__
