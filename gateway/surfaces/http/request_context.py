"""The context that the HTTP guard has made for a request, as every surface finds it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import Scope

from gateway.pipeline.call_context import CallContext

KEY = "porch.context"
"""Where it is in the ASGI scope."""


def context_of(scope: Scope) -> CallContext:
    """The context that the HTTP guard put into the scope."""
    context: CallContext = scope[KEY]
    return context


def wants_page(request: Request) -> bool:
    """Whether the sender of a request reads pages: a browser that was led to an address."""
    return "text/html" in request.headers.get("accept", "")
