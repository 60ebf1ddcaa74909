"""Calls that a tool makes of others for its own caller: each passes catalog and pipeline again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic_core import from_json

from gateway.contract import ToolFailed
from gateway.errors import NotFound, PortalError
from gateway.observability.logs import get_logger
from gateway.pipeline.call import Call, InternalError, Outcome
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.exchange import NO_CLIENT
from gateway.pipeline.json_chunks import Pieces

log = get_logger(__name__)

MAX_DEPTH = 3
"""Calls that may run within one another."""

MakeCall = Callable[[CallContext, str, Mapping[str, Any]], Call]
"""``make(context, key, arguments)``: the call of a tool, whose answer is a result of MCP."""


def _nothing_to_call(context: CallContext, key: str, arguments: Mapping[str, Any]) -> Call:
    raise ToolFailed("not_found", "Nothing can be called before the portal is open.")


class InnerCalls:
    """Runs the calls of tools.

    Args:
        run: takes a call through the pipeline.

    Attributes:
        make: makes such a call; what knows the wire's results sets it.
    """

    def __init__(self, run: Callable[[Call], Awaitable[Outcome]]) -> None:
        self._run = run
        self.make: MakeCall = _nothing_to_call

    async def call(self, outer: Call, key: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call a tool within another call (``Exchange.call``).

        Args:
            outer: the call that runs: its caller, and its way in, are those of the new one.
            key: the tool's.
            arguments: its arguments, as JSON values.

        Raises:
            ToolFailed: it was refused, or has failed.
        """
        if outer.depth >= MAX_DEPTH:
            raise ToolFailed(
                "too_deep", f"{key} is not called: {MAX_DEPTH} calls run within one another."
            )
        made = self.make(outer.context, key, arguments)
        within = made._replace(surface=outer.surface, client=NO_CLIENT, depth=outer.depth + 1)
        outcome = await self._run(within)
        if outcome.error is not None:
            raise as_failure(key, outcome.error)
        body = outcome.body
        result = from_json(b"".join(body.parts) if isinstance(body, Pieces) else body)
        return {name: each for name, each in result.items() if name != "resultType"}


def as_failure(key: str, error: Exception) -> ToolFailed:
    """What a tool, or an assistant, is told of an error: the portal's own as failures.

    Args:
        key: what was called.
        error: what came of it.
    """
    if isinstance(error, NotFound):  # what is hidden is told in the words of what never was
        return ToolFailed(error.code, f"There is no tool {key} for this caller.")
    if isinstance(error, PortalError):
        return ToolFailed(error.code, error.message, error.details)
    if isinstance(error, InternalError):
        return ToolFailed("internal_error", str(error))
    if isinstance(error, ToolFailed):
        return error
    log.error("inner_call_failed", tool=key, exc_info=error)
    return ToolFailed("internal_error", f"Something went wrong around {key}.")
