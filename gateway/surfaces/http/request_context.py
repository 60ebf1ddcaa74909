"""The context that the HTTP guard has made for a request, as every surface finds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from starlette.requests import Request
from starlette.types import Scope

from gateway.pipeline.call_context import CallContext

KEY = "porch.context"
"""Where it is in the ASGI scope."""


def context_of(scope: Scope) -> CallContext:
    """The context that the HTTP guard put into the scope."""
    context: CallContext = scope[KEY]
    return context


def doubled(headers: Mapping[str, str], raw: Sequence[tuple[bytes, bytes]]) -> Collection[str]:
    """The names of the headers that a request carries more than once.

    Args:
        headers: the headers, names in lower case.
        raw: the same as they came in.
    """
    if len(headers) == len(raw):
        return ()
    often = Counter(name.decode("latin-1") for name, _ in raw)
    return [name for name, times in often.items() if times > 1]


def wants_page(request: Request) -> bool:
    """Whether the sender of a request reads pages: a browser that was led to an address."""
    return "text/html" in request.headers.get("accept", "")
