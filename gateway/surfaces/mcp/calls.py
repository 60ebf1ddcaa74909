"""The MCP methods that call an item, each as a :class:`gateway.pipeline.call.Call`.

What a call leads to is looked up when the pipeline says so, and not before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import mcp_types as mcp

from auth import Caller
from gateway.catalog.apps import APPROVAL_APP
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import OWN_TOOLS, Item
from gateway.contract import (
    APP_MEDIA_TYPE,
    Resource,
    ResourceTemplate,
    Skill,
    Tool,
    ToolFailed,
    View,
)
from gateway.discovery.discovery import Discovery
from gateway.limits.call_limits import CallLimits
from gateway.observability.logs import get_logger
from gateway.pipeline.call import Call, Limit, Target, begin_anew
from gateway.pipeline.exchange import Resumption
from gateway.pipeline.pipeline import Pipeline
from gateway.scrubbing.scrubber import Redaction
from gateway.surfaces.http.upstream_credentials import Upstreams
from gateway.surfaces.mcp.completion import complete, completion_result
from gateway.surfaces.mcp.inner_calls import inner
from gateway.surfaces.mcp.long_results import prompt_pieces, resource_pieces, tool_pieces
from gateway.surfaces.mcp.prompts import Asked
from gateway.surfaces.mcp.redaction_report import with_report
from gateway.surfaces.mcp.request import Request
from gateway.surfaces.mcp.request_state import StateSigner
from gateway.surfaces.mcp.results import prompt_result, resource_result, tool_result
from gateway.surfaces.mcp.skills import file_reader, skill_entry, skill_result
from gateway.surfaces.mcp.tasks import Tasks, task_of
from gateway.surfaces.mcp.url_elicitation import others, own
from gateway.surfaces.views.apps import document, with_drawing
from gateway.surfaces.views.drawing import Drawing
from gateway.toolkit import mirrored_headers
from gateway.toolkit.client_capabilities import lacking, missing_capability
from gateway.toolkit.mirrored_headers import ParameterHeaders

log = get_logger(__name__)

BAD_HEADER = "header_mismatch"
"""The failure of a call whose parameter headers are not what its arguments say."""

_OF_ROUNDS = frozenset({"requestState", "inputResponses"})
"""Parameters of a call that goes on with an earlier one."""

_Render = Callable[[Any, Sequence[Redaction]], bytes]
_Pieces = Callable[[Any, Sequence[Redaction]], Iterator[bytes]]


class Calls:
    """Makes requests into calls.

    Args:
        catalog: what there is, and for whom.
        discovery: the portal's own tools, by which others are found and called.
        pipeline: says back what callers wrote.
        upstreams: the callers' own credentials for the plugins' upstreams.
        signer: signs the states of unfinished answers.
        limits: counts the tool calls of each caller.
        tasks: has jobs do the work of tools, for clients that follow tasks.

    Attributes:
        table: what makes the call of each method.
    """

    def __init__(
        self,
        catalog: Catalog,
        discovery: Discovery,
        pipeline: Pipeline,
        upstreams: Upstreams,
        signer: StateSigner,
        limits: CallLimits,
        tasks: Tasks,
    ) -> None:
        self._catalog = catalog
        self._discovery = discovery
        self._pipeline = pipeline
        self._upstreams = upstreams
        self._signer = signer
        self._limits = limits
        self._tasks = tasks
        self.table: Mapping[str, Callable[[Request], Call]] = {
            "tools/call": self._tool,
            "prompts/get": self._prompt,
            "resources/read": self._resource,
            "skills/get": self._skill,
            "completion/complete": self._completion,
            **tasks.table(self._call, self._of_tool),
        }

    def _tool(self, asked: Request) -> Call:
        request = inner(asked)
        is_inner = request is not asked
        name, context = request.params["name"], request.context
        found = self._finder(name, is_inner)
        given = request.params.get("arguments") or {}

        def find() -> Target:
            item = found(name, context.caller, context.only)
            # Parameter headers mirror what the client calls, which is not what it has called.
            headers = () if is_inner else item.headers
            resume = self._resumed(request, headers, given)
            answer = self._of_tool(item, request, given)
            if task := task_of(item, request):
                starting = self._tasks.starting(item, task, request, answer)
                render = self._finished(request, starting.render)
                return Target(item, starting.run, item.parse, render, resume)
            run, render = _declared(item, Tool).run, self._finished(request, answer)
            pieces = self._in_pieces(request, partial(tool_pieces, era=request.era))
            return Target(item, run, item.parse, render, resume, pieces=pieces)

        limit = partial(self._limits.take, context.caller, context.peer, arguments=given)
        return self._call(request, name, find, given, limit)

    def _of_tool(self, item: Item, request: Request, given: Mapping[str, Any]) -> _Render:
        """Writes a tool's result, and draws it for a client that shows the tool's view."""
        view = self._catalog.views.showing(item) if request.apps else None
        if view is None:
            return lambda value, _: tool_result(value, request.era)
        drawing = Drawing(self._catalog, request.context.base, request.caller)

        def render(value: Any, redactions: Sequence[Redaction]) -> bytes:
            result, shown = tool_result(value, request.era), {} if redactions else given
            try:
                drawn = drawing.draw(view, shown, value)
            except Exception as error:  # the answer is good without its picture
                # By its kind alone: what a template says of an error may quote the answer.
                log.warning("view_not_drawn", view=view.key, reason=type(error).__name__)
                return result
            return with_drawing(result, drawn, drawing.address(view, shown))

        return render

    def _finder(self, name: str, is_inner: bool) -> Callable[[str, Caller, str | None], Item]:
        """What looks a tool up: discovery is asked for its own two and for inner calls alone."""
        if is_inner:
            return self._discovery.inner_tool
        return self._discovery.tool if name in OWN_TOOLS else self._catalog.tool

    def _prompt(self, request: Request) -> Call:
        name, context = request.params["name"], request.context
        given = request.params.get("arguments") or {}

        def find() -> Target:
            item = self._catalog.prompt(name, context.caller, context.only)
            asked = Asked(item, name)
            render = self._finished(
                request, lambda value, _: prompt_result(value, asked.summary, request.era)
            )
            resume = self._resumed(request, item.headers, given)
            long = partial(prompt_pieces, summary=asked.summary, era=request.era)
            pieces = self._in_pieces(request, long)
            return Target(item, asked.render, item.parse, render, resume, "prompt", pieces)

        return self._call(request, name, find, given)

    def _resource(self, request: Request) -> Call:
        uri, context, variables = request.params["uri"], request.context, dict[str, str]()

        def find() -> Target:
            item, found = APPROVAL_APP, dict[str, str]()
            if uri != APPROVAL_APP.name or not self._catalog.approvals:
                item, found = self._catalog.resource(uri, context.caller, context.only)
            variables.update(found)
            run, mime_type = _reading(item, variables)

            def render(value: Any, redactions: Sequence[Redaction]) -> bytes:
                shown = self._pipeline.said_back(uri, redactions)
                return resource_result(value, shown, mime_type, request.era)

            def pieces(value: Any, redactions: Sequence[Redaction]) -> Iterator[bytes]:
                shown = self._pipeline.said_back(uri, redactions)
                return resource_pieces(value, redactions, shown, mime_type, request.era)

            rendered = self._finished(request, render)
            resume = self._resumed(request, item.headers, variables)
            long = self._in_pieces(request, pieces)
            return Target(item, run, item.parse, rendered, resume, pieces=long)

        return self._call(request, uri, find, variables)

    def _skill(self, request: Request) -> Call:
        uri, context = request.params["uri"], request.context

        def find() -> Target:
            item = self._catalog.skill(uri, context.caller, context.only)

            async def entry(_: Any, caller: Caller) -> dict[str, Any]:
                return skill_entry(item, self._catalog.files(item, caller))

            render = self._finished(request, lambda value, _: skill_result(value, request.era))
            return Target(item, entry, item.parse, render)

        return self._call(request, uri, find, {})

    def _completion(self, request: Request) -> Call:
        ref, context = request.params["ref"], request.context

        def find() -> Target:
            if ref["type"] == "ref/prompt":
                item = self._catalog.prompt(ref["name"], context.caller, context.only)
            else:
                item = self._catalog.template(ref["uri"], context.caller, context.only)
            render = self._finished(
                request, lambda values, _: completion_result(values, request.era)
            )
            return Target(item, partial(complete, item), dict, render, kind="completion")

        return self._call(request, ref.get("name") or ref["uri"], find, request.params)

    def _call(
        self,
        request: Request,
        name: str,
        find: Callable[[], Target],
        given: Mapping[str, Any],
        limit: Limit | None = None,
    ) -> Call:
        async def arguments() -> Mapping[str, Any]:
            return given

        context = request.context
        return Call(
            context=context,
            surface="mcp",
            kind=kind_of(request),
            name=name,
            find=find,
            arguments=arguments,
            client=request.channel,
            limit=limit,
            credential=partial(self._upstreams.brought, context),
            meta=request.meta,
            trace=request.meta if "traceparent" in request.meta else context.headers,
        )

    def _finished(self, request: Request, render: _Render) -> _Render:
        """Writes answers that are unfinished too, and says what the arguments have lost."""

        def finish(value: Any, redactions: Sequence[Redaction]) -> bytes:
            unfinished = isinstance(value, mcp.InputRequiredResult)
            result = (
                self._input_required(value, request) if unfinished else render(value, redactions)
            )
            return with_report(result, redactions)

        return finish

    def _in_pieces(self, request: Request, pieces: _Pieces) -> _Pieces:
        """The same for long answers."""

        def finish(value: Any, redactions: Sequence[Redaction]) -> Iterator[bytes]:
            if isinstance(value, mcp.InputRequiredResult):
                return iter((with_report(self._input_required(value, request), redactions),))
            return pieces(value, redactions)

        return finish

    def _input_required(self, value: mcp.InputRequiredResult, request: Request) -> bytes:
        if not request.era.modern:
            raise ToolFailed("needs_newer_client", "This needs a client of MCP 2026-07-28.")
        data = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        asked, able = data.get("inputRequests", {}).values(), request.channel.capabilities
        lacks = {lacking(each["method"], each.get("params") or {}, able) for each in asked}
        if lacks := lacks - {""}:
            raise missing_capability(lacks)
        if value.request_state is not None:
            data["requestState"] = self._signer.seal(
                value.request_state, request.caller, _purpose(request)
            )
        return request.era.result(request.method, data)

    def _resumed(
        self, request: Request, headers: ParameterHeaders, given: Mapping[str, Any]
    ) -> Callable[[], Resumption]:
        """Compares the parameter headers, and opens the state of an earlier round."""
        if not request.era.modern or not (headers or request.params.keys() & _OF_ROUNDS):
            return begin_anew

        def resume() -> Resumption:
            reason = mirrored_headers.mismatch(headers, given, request.context.headers)
            if reason:
                raise ToolFailed(BAD_HEADER, f"The header {reason}.")
            state = request.params.get("requestState")
            if state is not None:
                state = self._signer.open(state, request.caller, _purpose(request))
            responses = request.params.get("inputResponses")
            return Resumption(state, others(responses), own(responses))

        return resume


def kind_of(request: Request) -> str:
    """What the records call a request's call where it finds nothing."""
    return request.method.partition("/")[0].rstrip("s")


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
    if isinstance(declared, View):
        shell = document(item.name, declared.title)
        return _at_once(shell), APP_MEDIA_TYPE
    if isinstance(declared, Resource):
        return lambda _, caller: declared.read(caller), declared.mime_type
    template = _declared(item, ResourceTemplate)
    return template.read, template.mime_type


def _at_once(value: Any) -> Callable[[Any, Caller], Awaitable[Any]]:
    async def read(_: Any, caller: Caller) -> Any:
        return value

    return read


_T = TypeVar("_T")


def _declared(item: Item, kind: type[_T]) -> _T:
    if not isinstance(item.declared, kind):
        raise TypeError(f"{item.key} is not a {kind.__name__}")
    return item.declared
