"""Structured logs: one pipeline for our own lines and for those of every library.

Each line carries the request id and the trace id of the call it belongs to, and passes the
redactor last, after tracebacks have become text. Tracebacks name code, never values of locals.
Lines go to standard error: JSON for machines, columns for a person at a terminal.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog
from opentelemetry import trace
from structlog.typing import FilteringBoundLogger, Processor

from gateway.observability.recent_events import LATELY
from gateway.observability.redaction import redactor, register_secret

__all__ = ["configure", "get_logger", "register_secret", "request_id"]

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that runs now: set by the app, carried by logs, audit and errors."""

_LIBRARIES = (
    "aiohttp",
    "alembic",
    "dbos",
    "httpcore",
    "httpx",
    "httpx2",
    "mcp",
    "rust-sugiyama",
    "sqlalchemy",
    "uvicorn",
    "uvicorn.access",
    "uvicorn.error",
    "web3",
)
_CHATTY = (
    "aiohttp",
    "alembic",
    "dbos",
    "httpcore",  # at debug it shows headers, and in them the tokens of redirects
    "httpx",
    "httpx2",
    "mcp",
    "rust-sugiyama",  # the steps of each layout
    "uvicorn.access",
    "uvicorn.error",
    "web3",  # at debug it shows whole addresses of endpoints, which may hold a key
)


def get_logger(name: str) -> FilteringBoundLogger:
    """A structured logger: ``log.info("document_indexed", id=..., milliseconds=...)``.

    Args:
        name: the module's ``__name__``.
    """
    logger: FilteringBoundLogger = structlog.get_logger(name)
    return logger


def configure(level: str = "info", json: bool | None = None, worker: int = 0) -> None:
    """Send every log line of the process through one pipeline; a second call replaces the first.

    Args:
        level: the least level to show: ``debug``, ``info``, ``warning`` or ``error``.
        json: JSON lines, or columns for a person; None decides by whether a person watches.
        worker: the process's number among those on one port, which each line says; 0 for none.

    Raises:
        ValueError: there is no such level.
    """
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise ValueError(f"log level {level!r}: choose debug, info, warning or error")
    if json is None:
        json = not sys.stderr.isatty()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(json, worker))
    _route_standard_logging(handler, number)
    structlog.configure(
        processors=[
            LATELY.step,
            structlog.stdlib.filter_by_level,
            *_enrich(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(min(number, logging.INFO)),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )


def _enrich() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_ids,
    ]


def _numbered(worker: int) -> Processor:
    """A step that says which worker a line is of, where it is one."""

    def number(
        _logger: Any, _method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        if worker:
            event.setdefault("worker", worker)
        return event

    return number


def _formatter(json: bool, worker: int = 0) -> structlog.stdlib.ProcessorFormatter:
    """The end of the pipeline: traceback to text, redaction, then the line itself."""
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*_enrich(), structlog.stdlib.ExtraAdder(), _drop_colours],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _numbered(worker),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            _redact,
            renderer,
        ],
    )


def _route_standard_logging(handler: logging.Handler, level: int) -> None:
    """Give the root one handler, and take the libraries' own ones away.

    DBOS adds a console handler to its logger unless one is there, so each gets ours itself.
    """
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(max(level, logging.WARNING) if name in _CHATTY else level)
    # SQLAlchemy shows statements, and with them values, from info on.
    logging.getLogger("sqlalchemy").setLevel(logging.WARNING)
    logging.captureWarnings(True)


def _add_ids(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    if (current := request_id.get()) is not None:
        event.setdefault("request_id", current)
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        event["trace_id"] = format(span.trace_id, "032x")
    return event


def _drop_colours(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    event.pop("color_message", None)
    return event


def _redact(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    redacted: dict[str, Any] = redactor.value(event)
    return redacted
