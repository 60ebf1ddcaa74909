"""Requests to others, in traces: a span for each, whose context goes along (W3C Trace Context).

The clients of plugins and of sign-in are made in many places; what all of them send passes the
transports of ``httpx`` and ``httpx2``, which is where this looks. Only where traces are exported.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Awaitable, Callable
from functools import wraps
from importlib import import_module
from typing import Any

from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gateway.toolkit.spans import is_recording, span

_LIBRARIES = ("httpx", "httpx2")
_PROPAGATOR = TraceContextTextMapPropagator()
_MARK = "_porch_traced"

Send = Callable[[Any, Any], Awaitable[Any]]


def trace_requests() -> None:
    """Have every request of this process make a span from now on; once is enough."""
    for name in _LIBRARIES:
        if importlib.util.find_spec(name) is None:
            continue
        transport = import_module(name).AsyncHTTPTransport
        if not hasattr(transport.handle_async_request, _MARK):
            transport.handle_async_request = _traced(transport.handle_async_request)


def _traced(send: Send) -> Send:
    @wraps(send)
    async def traced(transport: Any, request: Any) -> Any:
        if not is_recording():
            return await send(transport, request)
        attributes = {"http.request.method": request.method, "server.address": request.url.host}
        # The address itself is not told: paths and queries may hold what somebody asked for.
        with span(request.method, attributes, client=True) as made:
            if made is None:
                return await send(transport, request)
            _PROPAGATOR.inject(request.headers)
            response = await send(transport, request)
            made.set_attribute("http.response.status_code", response.status_code)
            return response

    setattr(traced, _MARK, True)
    return traced
