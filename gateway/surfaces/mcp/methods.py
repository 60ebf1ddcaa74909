"""The MCP methods, the same for both eras: each takes a request and gives a result's bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import mcp_types as mcp

from gateway.catalog import Catalog
from gateway.contract import Prompt, Resource, ResourceTemplate, Tool, ToolFailed
from gateway.errors import NotAllowed, NotFound
from gateway.items import Item
from gateway.pipeline import Call, Pipeline, Refused
from gateway.surfaces.mcp import headers as header_values
from gateway.surfaces.mcp.about import About
from gateway.surfaces.mcp.completion import complete
from gateway.surfaces.mcp.envelope import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    WireError,
)
from gateway.surfaces.mcp.listing import Listing
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.results import (
    prompt_result,
    resource_result,
    tool_failure,
    tool_result,
)
from gateway.surfaces.mcp.state import StateSigner

Method = Callable[[Request], Awaitable[bytes]]

_CAPABILITY = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


class Methods:
    """Answers requests from the catalog, through the pipeline.

    Args:
        catalog: what there is, and for whom.
        pipeline: what every call passes.
        about: what the portal says of itself.
        signer: signs the states of unfinished answers.
    """

    def __init__(
        self, catalog: Catalog, pipeline: Pipeline, about: About, signer: StateSigner
    ) -> None:
        self._catalog = catalog
        self._pipeline = pipeline
        self._signer = signer
        listing = Listing(catalog)
        self.table: dict[str, Method] = {
            "tools/call": self._call_tool,
            "tools/list": listing.page,
            "prompts/list": listing.page,
            "resources/list": listing.page,
            "resources/templates/list": listing.page,
            "resources/read": self._read_resource,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
            "server/discover": about.discover,
        }

    async def answer(self, request: Request) -> bytes:
        """The result of a request, as JSON.

        Raises:
            WireError: there is no such method, or the request is not good.
            InternalError: something of ours went wrong.
        """
        method = self.table.get(request.method)
        if method is None:
            raise unknown_method(request.method)
        return await method(request)

    async def _call_tool(self, request: Request) -> bytes:
        name, arguments = request.params["name"], request.params.get("arguments") or {}
        try:
            item = self._catalog.tool(name, request.caller, request.only)
        except NotFound as error:
            raise self._refused(error, name, request) from None
        except NotAllowed as error:
            self._refused(error, name, request)
            failed = ToolFailed(error.code, error.message, error.details)
            return tool_failure(failed, request.channel.request_id, request.era)
        checked = item.headers if request.era.modern else ()
        if reason := header_values.mismatch(checked, arguments, request.headers):
            raise WireError(HEADER_MISMATCH, f"The header {reason}.")
        tool = _declared(item, Tool)
        try:
            return await self._run(
                request, item, tool.run, arguments, lambda value: tool_result(value, request.era)
            )
        except ToolFailed as failed:
            return tool_failure(failed, request.channel.request_id, request.era)

    async def _get_prompt(self, request: Request) -> bytes:
        name, arguments = request.params["name"], request.params.get("arguments") or {}
        try:
            item = self._catalog.prompt(name, request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, name, request) from None
        prompt = _declared(item, Prompt)
        try:
            return await self._run(
                request,
                item,
                prompt.render,
                arguments,
                lambda value: prompt_result(value, prompt.summary, request.era),
            )
        except ToolFailed as failed:
            raise WireError(INVALID_PARAMS, failed.message, failed.details) from None

    async def _read_resource(self, request: Request) -> bytes:
        uri = request.params["uri"]
        try:
            item, variables = self._catalog.resource(uri, request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, uri, request) from None
        declared = item.declared
        if isinstance(declared, Resource):
            run: Any = lambda _, caller: declared.read(caller)  # noqa: E731
        else:
            run = _declared(item, ResourceTemplate).read
        mime_type = getattr(declared, "mime_type", "text/plain")
        try:
            return await self._run(
                request,
                item,
                run,
                variables,
                lambda value: resource_result(value, uri, mime_type, request.era),
            )
        except ToolFailed as failed:
            data = {"uri": uri, **failed.details}
            raise WireError(INVALID_PARAMS, failed.message, data) from None

    async def _complete(self, request: Request) -> bytes:
        ref = request.params["ref"]
        try:
            if ref["type"] == "ref/prompt":
                item = self._catalog.prompt(ref["name"], request.caller, request.only)
            else:
                item = self._catalog.template(ref["uri"], request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, str(ref), request) from None
        return await complete(item, request)

    async def _run(
        self,
        request: Request,
        item: Item,
        run: Callable[[Any, Any], Awaitable[Any]],
        raw: Mapping[str, Any],
        render: Callable[[Any], bytes],
    ) -> bytes:
        purpose = f"{request.method}:{item.name}"
        channel = request.channel
        if state := request.params.get("requestState"):
            channel.request_state = self._signer.open(state, request.caller, purpose)
        channel.input_responses = request.params.get("inputResponses")

        def finish(value: Any) -> bytes:
            if isinstance(value, mcp.InputRequiredResult):
                return self._input_required(value, request, purpose)
            return render(value)

        call = Call(
            item=item,
            run=run,
            parse=item.parse,
            raw=raw,
            caller=request.caller,
            surface=request.surface,
            exchange=channel,
            trace=request.meta if "traceparent" in request.meta else request.headers,
        )
        try:
            return await self._pipeline.call(call, finish)
        except ToolFailed as failed:
            if failed.code != "missing_capability" or not request.era.modern:
                raise
            raise WireError(MISSING_CAPABILITY, failed.message, failed.details) from None

    def _input_required(
        self, value: mcp.InputRequiredResult, request: Request, purpose: str
    ) -> bytes:
        if not request.era.modern:
            raise ToolFailed("needs_newer_client", "This needs a client of MCP 2026-07-28.")
        data = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        needed = {_CAPABILITY[each["method"]] for each in data.get("inputRequests", {}).values()}
        if missing := needed - request.channel.client_capabilities.keys():
            capabilities: dict[str, Any] = {name: {} for name in sorted(missing)}
            raise ToolFailed(
                "missing_capability",
                f"This needs a client that offers {', '.join(sorted(missing))}.",
                {"requiredCapabilities": capabilities},
            )
        if value.request_state is not None:
            data["requestState"] = self._signer.seal(value.request_state, request.caller, purpose)
        return request.era.result(request.method, data)

    def _refused(self, error: NotFound | NotAllowed, name: str, request: Request) -> WireError:
        kind = request.method.partition("/")[0].rstrip("s")
        at = Refused(request.caller, kind, request.surface, request.channel.request_id)
        self._pipeline.refused(error, name, at)
        return WireError(INVALID_PARAMS, error.message, error.details)


def unknown_method(method: str) -> WireError:
    """The error for a method that is not served."""
    return WireError(METHOD_NOT_FOUND, f"Unknown method: {method[:100]}")


_T = TypeVar("_T")


def _declared(item: Item, kind: type[_T]) -> _T:
    if not isinstance(item.declared, kind):
        raise TypeError(f"{item.key} is not a {kind.__name__}")
    return item.declared
