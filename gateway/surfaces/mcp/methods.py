"""The MCP methods, the same for both eras: each takes a request and gives a result's bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from gateway.catalog.items import CALL_TOOL
from gateway.catalog.refusals import NotAllowed
from gateway.contract import ConnectionNeeded, RelayedError, ToolFailed
from gateway.errors import NotFound, PortalError
from gateway.limits.call_limits import headers_of
from gateway.limits.rate_counter import LimitReached
from gateway.pipeline.approval_answers import NotApproved
from gateway.pipeline.call import Outcome
from gateway.pipeline.json_chunks import Body
from gateway.pipeline.pipeline import Pipeline
from gateway.surfaces.http.responses import Headers
from gateway.surfaces.mcp.about import About
from gateway.surfaces.mcp.calls import BAD_HEADER, Calls, kind_of
from gateway.surfaces.mcp.elicitations import Elicitations
from gateway.surfaces.mcp.envelope import (
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    WireError,
    unknown_method,
)
from gateway.surfaces.mcp.lists import Listing
from gateway.surfaces.mcp.redaction_report import error_with_report, with_report
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.request_state import BAD_STATE
from gateway.surfaces.mcp.results import tool_failure
from gateway.surfaces.mcp.step_up import Challenge, StepUp
from gateway.surfaces.mcp.url_elicitation import asked_to_connect, asked_to_open
from gateway.surfaces.views.approval_card import approval_card
from gateway.surfaces.views.apps import with_drawing
from gateway.toolkit.client_capabilities import NO_CAPABILITY
from gateway.toolkit.mcp_names import HEADER_MISMATCH

Method = Callable[[Request], Awaitable[bytes]]

_WIRE_CODES = {
    BAD_HEADER: HEADER_MISMATCH,
    NO_CAPABILITY: MISSING_CAPABILITY,
    BAD_STATE: INVALID_PARAMS,
}
"""Failures that 2026-07-28 wants as JSON-RPC errors, rather than as results."""


class Result(NamedTuple):
    """A result as JSON, and the HTTP headers it has where it is the whole answer."""

    body: Body
    headers: Headers = ()


class Methods:
    """Answers requests from the catalog, through the pipeline.

    Args:
        calls: makes the requests that call an item into calls.
        pipeline: what every call passes.
        listing: what there is, page by page.
        about: what the portal says of itself.
        step_up: says which refusals challenge the client.
        elicitations: tells clients when what they were asked to do at a link is done.
    """

    def __init__(
        self,
        calls: Calls,
        pipeline: Pipeline,
        listing: Listing,
        about: About,
        step_up: StepUp,
        elicitations: Elicitations,
    ) -> None:
        self._calls = calls.table
        self._pipeline = pipeline
        self._step_up = step_up
        self._elicitations = elicitations
        self._others: dict[str, Method] = {
            "tools/list": listing.page,
            "prompts/list": listing.page,
            "resources/list": listing.page,
            "resources/templates/list": listing.page,
            "resources/directory/read": listing.directory,
            "skills/list": listing.page,
            "server/discover": about.discover,
        }

    async def answer(self, request: Request) -> Result:
        """The result of a request.

        Raises:
            WireError: there is no such method, or the request is not good.
            InternalError: something of ours went wrong.
        """
        if make := self._calls.get(request.method):
            return self._result(request, await self._pipeline.call(make(request)))
        if (method := self._others.get(request.method)) is None:
            raise unknown_method(request.method)
        try:
            return Result(await method(request))
        except (NotFound, NotAllowed) as refusal:
            context, uri = request.context, request.params["uri"]
            self._pipeline.refuse(refusal, context, "mcp", kind_of(request), uri)
            raise self._wire(refusal, request) from None

    def _result(self, request: Request, outcome: Outcome) -> Result:
        error, taken = outcome.error, outcome.taken
        headers: Headers = () if taken is None else headers_of(taken)
        if isinstance(error, LimitReached):
            headers = (*headers, *error.headers)
        if error is None:
            return Result(outcome.body, headers)
        try:
            if isinstance(error, PortalError):
                return Result(self._refusal(error, request, headers), headers)
            if isinstance(error, ToolFailed):
                return Result(self._failure(error, request, outcome), headers)
        except WireError as wire:
            raise error_with_report(wire, outcome.redactions) from None
        raise error

    def _refusal(self, refusal: PortalError, request: Request, headers: Headers) -> bytes:
        """A refusal as a result, which the model reads, where it does not challenge the client."""
        error = self._wire(refusal, request, headers)
        reads = request.method == "tools/call" and (
            not isinstance(refusal, NotFound) or request.params["name"] == CALL_TOOL
        )
        if isinstance(error, Challenge) or not reads:
            raise error
        failed = ToolFailed(refusal.code, refusal.message, refusal.details)
        return tool_failure(failed, request.context.request_id, request.era)

    def _wire(self, refusal: PortalError, request: Request, headers: Headers = ()) -> WireError:
        code = _code(request, refusal.code)
        if isinstance(refusal, NotAllowed) and self._step_up.applies(refusal, request):
            return Challenge(code, refusal, request, headers)
        return WireError(code, refusal.message, refusal.details)

    def _failure(self, failed: ToolFailed, request: Request, outcome: Outcome) -> bytes:
        if isinstance(failed, RelayedError):
            if asked := asked_to_open(failed, request):
                return asked
            raise WireError(failed.number, failed.message, failed.details or None)
        if isinstance(failed, ConnectionNeeded) and (
            asked := asked_to_connect(failed, request, self._elicitations)
        ):
            return asked
        code = _WIRE_CODES.get(failed.code)
        if code is not None and request.era.modern:
            raise WireError(code, failed.message, failed.details or None)
        if request.method == "tools/call":
            written = tool_failure(failed, request.context.request_id, request.era)
            if request.apps and isinstance(failed, NotApproved):
                written = _with_card(written, failed, request, scrubbed=bool(outcome.redactions))
            return with_report(written, outcome.redactions)
        details = failed.details
        if request.method == "resources/read":
            uri = self._pipeline.said_back(request.params["uri"], outcome.redactions)
            details = {"uri": uri, **details}
        raise WireError(_code(request, failed.code), failed.message, details)


def _with_card(result: bytes, failed: NotApproved, request: Request, *, scrubbed: bool) -> bytes:
    """The failure of a call that waits for a yes, with the card that an App shows."""
    again = None if scrubbed else request.params.get("arguments") or {}
    return with_drawing(result, approval_card(failed, request.params["name"], again), failed.page)


def _code(request: Request, failure: str) -> int:
    absent = failure == "not_found" and request.method == "resources/read"
    return RESOURCE_NOT_FOUND if absent and not request.era.modern else INVALID_PARAMS
