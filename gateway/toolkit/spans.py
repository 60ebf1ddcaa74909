"""Spans of what a call, a job or a sync does; they cost nothing where no trace is exported.

``with span("embed"): ...`` is a child of the span that is open in this task. Where nobody sees
spans, or this call's is not sampled, no span is made. Neither names nor attributes hold the value
of an argument.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

__all__ = ["before_call", "begin", "earlier", "is_recording", "record_with", "span"]

Attributes = Mapping[str, str | int]

_NOTHING: AbstractContextManager[None] = nullcontext()
_tracer: Tracer | None = None
_earlier: ContextVar[tuple[str, int, int] | None] = ContextVar("earlier", default=None)


def record_with(tracer: Tracer | None) -> None:
    """Make spans from now on, or none.

    Args:
        tracer: makes them; None where nobody sees them.
    """
    global _tracer
    _tracer = tracer


def is_recording() -> bool:
    """Whether spans are made in this process at all."""
    return _tracer is not None


def span(
    name: str, attributes: Attributes | None = None, *, root: bool = False, client: bool = False
) -> AbstractContextManager[Any]:
    """A span for as long as the block lasts.

    Args:
        name: what is done, in a few words that do not differ from call to call.
        attributes: what else is worth to know; no argument's value.
        root: whether it may begin a trace, as a job does; else it is only made within another.
        client: whether another process is asked.

    Returns:
        A context; it gives the span, or None where none is made.
    """
    if _tracer is None:
        return _NOTHING
    from opentelemetry import trace

    if not root and not trace.get_current_span().is_recording():
        return _NOTHING
    return _recorded(_tracer, name, attributes, client)


@contextmanager
def _recorded(
    tracer: Tracer, name: str, attributes: Attributes | None, client: bool
) -> Generator[Any]:
    from opentelemetry.trace import SpanKind, Status, StatusCode

    with tracer.start_as_current_span(
        name,
        kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,  # its words may be somebody's
        set_status_on_exception=False,
    ) as made:
        try:
            yield made
        except BaseException as error:
            made.set_attribute("error.type", type(error).__qualname__)
            made.set_status(Status(StatusCode.ERROR))
            raise


def begin(name: str, attributes: Attributes) -> Span | None:
    """A span for what asks another process and is no block; whoever began it ends it.

    Returns:
        It, or None where none is made.
    """
    if _tracer is None:
        return None
    from opentelemetry import trace

    if not trace.get_current_span().is_recording():
        return None
    return _tracer.start_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes)


def before_call(name: str) -> AbstractContextManager[None]:
    """What is done before it is known which call it is for, and so of which trace it is a part.

    The span of the call takes it up (:func:`earlier`).
    """
    return _NOTHING if _tracer is None else _timed(name)


@contextmanager
def _timed(name: str) -> Generator[None]:
    began = time.time_ns()
    try:
        yield
    finally:
        _earlier.set((name, began, time.time_ns()))


def earlier() -> tuple[str, int, int] | None:
    """What was done before this call: its name, and when it began and ended, in nanoseconds.

    It is given once.
    """
    if _tracer is None:
        return None
    found = _earlier.get()
    _earlier.set(None)
    return found
