"""The MCP methods, the same for both eras: each takes a request and gives a result's bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import mcp_types as mcp

from auth import Caller
from gateway.catalog import parameter_headers as header_values
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.contract import Resource, ResourceTemplate, Skill, Tool, ToolFailed
from gateway.errors import NotAllowed, NotFound, PortalError
from gateway.limits.call_limits import CallLimits, RateLimited, headers_of
from gateway.observability.redaction import redactor
from gateway.pipeline.pipeline import Call, Pipeline, Refused
from gateway.surfaces.mcp.about import About
from gateway.surfaces.mcp.completion import complete, completion_result
from gateway.surfaces.mcp.envelope import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    WireError,
)
from gateway.surfaces.mcp.lists import Listing
from gateway.surfaces.mcp.prompts import Asked
from gateway.surfaces.mcp.redacted import told, told_error
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.results import (
    prompt_result,
    resource_result,
    tool_failure,
    tool_result,
)
from gateway.surfaces.mcp.skills import file_reader, skill_entry, skill_result
from gateway.surfaces.mcp.state import BAD_STATE, StateSigner
from gateway.surfaces.mcp.step_up import Challenge, StepUp

Method = Callable[[Request], Awaitable[bytes]]

_CAPABILITY = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
_BAD_HEADER = "header_mismatch"
_NO_CAPABILITY = "missing_capability"
_WIRE_CODES = {
    _BAD_HEADER: HEADER_MISMATCH,
    _NO_CAPABILITY: MISSING_CAPABILITY,
    BAD_STATE: INVALID_PARAMS,
}
"""Failures that 2026-07-28 wants as JSON-RPC errors, rather than as results."""


class Methods:
    """Answers requests from the catalog, through the pipeline.

    Args:
        catalog: what there is, and for whom.
        pipeline: what every call passes.
        about: what the portal says of itself.
        signer: signs the states of unfinished answers, and cursors.
        limits: counts the tool calls of each caller.
        step_up: says which refusals challenge the client.

    Attributes:
        notices: what an admin should look at: plugins whose part of a list is missing.
    """

    def __init__(
        self,
        catalog: Catalog,
        pipeline: Pipeline,
        about: About,
        signer: StateSigner,
        limits: CallLimits,
        step_up: StepUp,
    ) -> None:
        self._catalog = catalog
        self._pipeline = pipeline
        self._signer = signer
        self._limits = limits
        self._step_up = step_up
        self._listing = listing = Listing(catalog, signer)
        self.notices = listing.listers.notices
        self.table: dict[str, Method] = {
            "tools/call": self._call_tool,
            "tools/list": listing.page,
            "prompts/list": listing.page,
            "resources/list": listing.page,
            "resources/templates/list": listing.page,
            "resources/read": self._read_resource,
            "resources/directory/read": self._read_directory,
            "skills/list": listing.page,
            "skills/get": self._get_skill,
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
        try:
            return told(await method(request), request.channel.redactions)
        except WireError as error:
            raise told_error(error, request.channel.redactions) from None

    async def _call_tool(self, request: Request) -> bytes:
        name, arguments = request.params["name"], request.params.get("arguments") or {}
        found = self._tool(name, request)
        try:
            await self._count(found, request)
        except RateLimited as limited:
            return self._told(limited, name, request)
        if isinstance(found, NotFound):
            raise self._refused(found, name, request)
        if isinstance(found, NotAllowed):
            return self._told(found, name, request)
        item, tool = found, _declared(found, Tool)
        try:
            return await self._run(
                request, item, tool.run, arguments, lambda value: tool_result(value, request.era)
            )
        except ToolFailed as failed:
            return tool_failure(failed, request.channel.request_id, request.era)

    def _tool(self, name: str, request: Request) -> Item | NotFound | NotAllowed:
        try:
            return self._catalog.tool(name, request.caller, request.only)
        except (NotFound, NotAllowed) as refusal:
            return refusal

    async def _count(self, found: Item | NotFound | NotAllowed, request: Request) -> None:
        """Count a tool call, whatever comes of it; raises ``RateLimited``."""
        if request.surface == "cli":  # a person at the command line of the portal's own machine
            return
        item = found if isinstance(found, Item) else None
        try:
            taken = await self._limits.take(request.caller, request.peer, item.name if item else "")
        except RateLimited as limited:
            limited.item = item.key if item else ""
            request.channel.headers = limited.headers
            raise
        if taken is not None:
            request.channel.headers = headers_of(taken)

    def _told(self, refusal: PortalError, name: str, request: Request) -> bytes:
        """A refusal as a result, which the model reads, where it does not challenge the client."""
        if isinstance(error := self._refused(refusal, name, request), Challenge):
            raise error
        failed = ToolFailed(refusal.code, refusal.message, refusal.details)
        return tool_failure(failed, request.channel.request_id, request.era)

    async def _get_prompt(self, request: Request) -> bytes:
        name, arguments = request.params["name"], request.params.get("arguments") or {}
        try:
            item = self._catalog.prompt(name, request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, name, request) from None
        asked = Asked(item, name)
        try:
            return await self._run(
                request,
                item,
                asked.render,
                arguments,
                lambda value: prompt_result(value, asked.summary, request.era),
                kind="prompt",
            )
        except ToolFailed as failed:
            raise WireError(INVALID_PARAMS, failed.message, failed.details) from None

    async def _read_resource(self, request: Request) -> bytes:
        uri = request.params["uri"]
        try:
            item, variables = self._catalog.resource(uri, request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, uri, request) from None
        run, mime_type = _reading(item, variables)
        try:
            return await self._run(
                request,
                item,
                run,
                variables,
                lambda value: resource_result(value, _clean(uri, request), mime_type, request.era),
            )
        except ToolFailed as failed:
            data = {"uri": _clean(uri, request), **failed.details}
            raise WireError(_code(request, failed.code), failed.message, data) from None

    async def _read_directory(self, request: Request) -> bytes:
        try:
            return self._listing.directory(request)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, request.params["uri"], request) from None

    async def _get_skill(self, request: Request) -> bytes:
        uri = request.params["uri"]
        try:
            item = self._catalog.skill(uri, request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, uri, request) from None

        async def entry(_: Any, caller: Caller) -> dict[str, Any]:
            return skill_entry(item, self._catalog.files(item, caller))

        return await self._run(
            request, item, entry, {}, lambda value: skill_result(value, request.era)
        )

    async def _complete(self, request: Request) -> bytes:
        ref = request.params["ref"]
        try:
            if ref["type"] == "ref/prompt":
                item = self._catalog.prompt(ref["name"], request.caller, request.only)
            else:
                item = self._catalog.template(ref["uri"], request.caller, request.only)
        except (NotFound, NotAllowed) as error:
            raise self._refused(error, ref.get("name") or ref["uri"], request) from None
        run = partial(complete, item)
        call = self._call(request, item, run, dict, request.params, "completion")
        try:
            return await self._through(
                call,
                lambda values: completion_result(values, request.era),
                request,
            )
        except ToolFailed as failed:
            raise WireError(INVALID_PARAMS, failed.message, failed.details) from None

    async def _run(
        self,
        request: Request,
        item: Item,
        run: Callable[[Any, Any], Awaitable[Any]],
        raw: Mapping[str, Any],
        render: Callable[[Any], bytes],
        kind: str = "",
    ) -> bytes:
        def parse(scrubbed: Mapping[str, Any]) -> Any:
            if request.era.modern:
                self._check_modern(request, item, raw)
            return item.parse(scrubbed)

        def finish(value: Any) -> bytes:
            if isinstance(value, mcp.InputRequiredResult):
                return self._input_required(value, request)
            return render(value)

        try:
            call = self._call(request, item, run, parse, raw, kind)
            return await self._through(call, finish, request)
        except ToolFailed as failed:
            code = _WIRE_CODES.get(failed.code)
            if code is None or not request.era.modern:
                raise
            raise WireError(code, failed.message, failed.details or None) from None

    async def _through(self, call: Call, render: Callable[[Any], bytes], request: Request) -> bytes:
        """The pipeline, with the caller's own credential for the plugin's upstream at hand."""
        credential = request.upstream.get(call.item.plugin)
        if credential is None:
            return await self._pipeline.call(call, render)
        request.channel.credential = credential
        with redactor.hiding(credential):
            try:
                return await self._pipeline.call(call, render)
            except ToolFailed as failed:
                said, details = redactor.text(failed.message), redactor.value(failed.details)
                raise ToolFailed(failed.code, said, details) from None
            finally:
                # What the call has begun may outlive it, and sees the same exchange.
                request.channel.credential = None

    def _call(
        self,
        request: Request,
        item: Item,
        run: Callable[[Any, Any], Awaitable[Any]],
        parse: Callable[[Mapping[str, Any]], Any],
        raw: Mapping[str, Any],
        kind: str = "",
    ) -> Call:
        return Call(
            item=item,
            run=run,
            parse=parse,
            raw=raw,
            caller=request.caller,
            surface=request.surface,
            exchange=request.channel,
            trace=request.meta if "traceparent" in request.meta else request.headers,
            kind=kind,
        )

    def _check_modern(self, request: Request, item: Item, arguments: Mapping[str, Any]) -> None:
        """Compare the parameter headers, and open the state of an earlier round."""
        if reason := header_values.mismatch(item.headers, arguments, request.headers):
            raise ToolFailed(_BAD_HEADER, f"The header {reason}.")
        channel = request.channel
        if (state := request.params.get("requestState")) is not None:
            channel.request_state = self._signer.open(state, request.caller, _purpose(request))
        if answers := request.params.get("inputResponses"):
            channel.input_responses = channel.scrubbed(answers)

    def _input_required(self, value: mcp.InputRequiredResult, request: Request) -> bytes:
        if not request.era.modern:
            raise ToolFailed("needs_newer_client", "This needs a client of MCP 2026-07-28.")
        data = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        needed = {_CAPABILITY[each["method"]] for each in data.get("inputRequests", {}).values()}
        if missing := needed - request.channel.client_capabilities.keys():
            capabilities: dict[str, Any] = {name: {} for name in sorted(missing)}
            raise ToolFailed(
                _NO_CAPABILITY,
                f"This needs a client that offers {', '.join(sorted(missing))}.",
                {"requiredCapabilities": capabilities},
            )
        if value.request_state is not None:
            data["requestState"] = self._signer.seal(
                value.request_state, request.caller, _purpose(request)
            )
        return request.era.result(request.method, data)

    def _refused(self, error: PortalError, name: str, request: Request) -> WireError:
        kind = request.method.partition("/")[0].rstrip("s")
        at = Refused(request.caller, kind, request.surface, request.channel.request_id)
        self._pipeline.refused(error, name, at)
        code = _code(request, error.code)
        if isinstance(error, NotAllowed) and self._step_up.applies(error, request):
            return Challenge(code, error, request)
        return WireError(code, error.message, error.details)


def unknown_method(method: str) -> WireError:
    """The error for a method that is not served."""
    return WireError(METHOD_NOT_FOUND, f"Unknown method: {method[:100]}")


def _code(request: Request, failure: str) -> int:
    absent = failure == "not_found" and request.method == "resources/read"
    return RESOURCE_NOT_FOUND if absent and not request.era.modern else INVALID_PARAMS


def _clean(uri: str, request: Request) -> str:
    """A URI as it is said back: without the secrets that were taken out of its variables."""
    channel = request.channel
    if channel.scrubber is None or not channel.redactions:
        return uri
    return channel.scrubber.text(uri)[0]


def _purpose(request: Request) -> str:
    """What a state is good for: this method, this item, these arguments."""
    asked = [request.params.get(key) for key in ("name", "uri", "arguments")]
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    return f"{request.method}:{digest}"


def _reading(item: Item, variables: Mapping[str, str]) -> tuple[Any, str]:
    """What reads the resource behind an item, and the media type of what it reads."""
    declared = item.declared
    if isinstance(declared, Skill):
        return file_reader(item), item.files[variables["path"]].mime_type
    if isinstance(declared, Resource):
        return lambda _, caller: declared.read(caller), declared.mime_type
    template = _declared(item, ResourceTemplate)
    return template.read, template.mime_type


_T = TypeVar("_T")


def _declared(item: Item, kind: type[_T]) -> _T:
    if not isinstance(item.declared, kind):
        raise TypeError(f"{item.key} is not a {kind.__name__}")
    return item.declared
