"""The tools that an answer may use: the person's own, through catalog and pipeline.

What is offered is what a client of the person's would be told of, within the same budget
(:mod:`gateway.discovery`), with those that fit the question among them.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic_core import from_json

from auth import Caller
from gateway.assistant.conversation import Source
from gateway.catalog.approval_rule import CONFIRMED
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import CALL_TOOL, FIND_TOOLS, Item
from gateway.catalog.views import declared_view, is_view
from gateway.contract import ToolFailed
from gateway.discovery.discovery import Discovery
from gateway.errors import PortalError
from gateway.pipeline.approval_answers import APPROVAL_NEEDED
from gateway.pipeline.call import Call, Target
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.exchange import NO_CLIENT
from gateway.pipeline.inner_calls import as_failure
from gateway.pipeline.json_chunks import Pieces
from gateway.pipeline.pipeline import Pipeline

FITTING_TOOLS = 8
"""Tools that fit the question and are offered at once, where not all are."""
MAX_RESULT_CHARACTERS = 16_000
"""Characters of one result that the model is given."""
SURFACE = "assistant"
"""What the audit log calls this way in."""

Sources = Callable[[Item, Mapping[str, Any], Any, CallContext], Awaitable[Sequence[Source]]]
"""``await sources(item, arguments, value, context)``: where what a call returned can be read."""


class Found(NamedTuple):
    """What came of a call.

    Attributes:
        text: what the model is told.
        failed: whether the tool has failed.
        sources: where what it returned can be read.
        approval: whose yes it waits for, as ``approval_needed`` details it; None where it does not.
    """

    text: str
    failed: bool = False
    sources: Sequence[Source] = ()
    approval: Mapping[str, Any] | None = None


@dataclass(slots=True)
class _Answer:
    item: Item | None = None
    value: Any = None
    got: bool = field(default=False)


class Desk:
    """Calls tools for one answer.

    Args:
        catalog: the tier gate.
        discovery: fits a list of tools to what a model can take.
        pipeline: what every call passes.
        context: who asks, and how they came in.
        who: finds out once more who that is, before each step.
        sources: says where results can be read.
    """

    def __init__(
        self,
        catalog: Catalog,
        discovery: Discovery,
        pipeline: Pipeline,
        context: CallContext,
        sources: Sources,
    ) -> None:
        self._catalog = catalog
        self._discovery = discovery
        self._pipeline = pipeline
        self._context = context
        self._sources = sources

    async def caller(self) -> Caller:
        """Who asks, as they are now: a role may have ended since the question.

        Raises:
            BadCredential: what they came with has ended.
        """
        caller = await self._context.again()
        self._context = self._context._replace(caller=caller)
        return caller

    async def offered(self, question: str) -> list[Mapping[str, Any]]:
        """The tools for a model, as a list of MCP shows them.

        Args:
            question: what the person has asked.
        """
        caller = await self.caller()
        listed = list(await self._discovery.shown(caller, None, "search"))
        names = {each["name"] for each in listed}
        if FIND_TOOLS not in names:  # all there are
            return listed
        fitting, _ = await self._discovery.find(question[:1000], FITTING_TOOLS, caller)
        more = [*self._searching(caller), *fitting]
        extra = {item.name: item.entry for item in more if item.name not in names}
        return [*listed, *extra.values()]

    def _searching(self, caller: Caller) -> list[Item]:
        """The tools that the portal's own search page asks."""
        found = []
        for view in self._catalog.listed("resource", caller):
            if is_view(view) and declared_view(view).asks:
                name = self._catalog.called(view.plugin, declared_view(view).tool)
                if name is not None:
                    found.append(self._catalog.tool(name, caller))
        return found

    def title(self, tool: str) -> str:
        """What people call a tool that the person may use."""
        try:
            entry = self._discovery.tool(tool, self._context.caller).entry
        except PortalError:
            return tool
        annotated = entry.get("annotations") or {}
        return str(entry.get("title") or annotated.get("title") or tool)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Found:
        """Call a tool; what it may write waits for the person's own yes first.

        Args:
            tool: what the portal calls it.
            arguments: what the model gives it.
        """
        await self.caller()
        context = self._context
        answer = _Answer()
        made = self._pipeline.inner.make(context, tool, arguments)
        outcome = await self._pipeline.call(_kept(made, answer))
        if outcome.error is not None:
            return _failure(tool, outcome.error)
        body = outcome.body
        result = from_json(b"".join(body.parts) if isinstance(body, Pieces) else body)
        sources: Sequence[Source] = ()
        if answer.item is not None and not result.get("isError"):
            shown = {} if outcome.redactions else arguments
            sources = await self._sources(answer.item, shown, answer.value, context)
        return Found(said(result), bool(result.get("isError")), sources)


def meant(tool: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """What a call is of: ``call_tool`` stands for the tool that it names.

    Args:
        tool: what the model calls.
        arguments: what it gives it.
    """
    if tool != CALL_TOOL:
        return tool, arguments
    name, inner = arguments.get("name"), arguments.get("arguments")
    if isinstance(inner, str):
        try:
            inner = from_json(inner)
        except ValueError:
            inner = None
    return str(name), inner if isinstance(inner, Mapping) else {}


def _kept(made: Call, answer: _Answer) -> Call:
    """The same call by this way in, which keeps what the tool returned beside how it is written."""

    def find() -> Target:
        target = made.find()
        answer.item = target.item

        def render(value: Any, redactions: Any) -> bytes:
            answer.value = value
            return target.render(value, redactions)

        return target._replace(render=render, pieces=None)

    return made._replace(surface=SURFACE, client=NO_CLIENT, find=find, confirm=CONFIRMED)


def _failure(tool: str, error: Exception) -> Found:
    failed: ToolFailed = as_failure(tool, error)
    if failed.code == APPROVAL_NEEDED:
        return Found(failed.message, failed=True, approval=failed.details)
    return Found(failed.message, failed=True)


def said(result: Mapping[str, Any]) -> str:
    """A result of MCP as text for a model, cut to what it can take."""
    blocks = result.get("content") or ()
    texts = [each["text"] for each in blocks if each.get("type") == "text"]
    others = [_described(each) for each in blocks if each.get("type") != "text"]
    text = "\n".join((*texts, *filter(None, others)))
    if not text and "structuredContent" in result:
        text = json.dumps(result["structuredContent"], ensure_ascii=False)
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text or "(nothing)"
    cut = len(text) - MAX_RESULT_CHARACTERS
    return f"{text[:MAX_RESULT_CHARACTERS]}\n(cut: {cut:,} characters more; ask for less)"


def _described(block: Mapping[str, Any]) -> str:
    """A block that is no text, in words: a model of text alone is told that it is there."""
    if block.get("type") == "resource_link":
        return f"[{block.get('title') or block.get('name')}]({block.get('uri')})"
    resource = block.get("resource") or {}
    return str(resource.get("text") or f"({block.get('type')}, {block.get('mimeType', 'no text')})")
