"""Calls of tools that pages make for the person in front of them: through catalog and pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from starlette.requests import Request

from gateway.pipeline.call import Call, Limit, Target
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.pages.parts import PageParts
from gateway.surfaces.pages.visitors import Visitor, Visitors


class Answered(NamedTuple):
    """What came of a call.

    Attributes:
        value: what the tool has returned.
        error: why it has not, or None.
        scrubbed: whether a secret was taken out of the arguments, which no page may repeat then.
    """

    value: Any = None
    error: Exception | None = None
    scrubbed: bool = False


class ToolCalls:
    """Calls tools for visitors.

    Args:
        parts: the tier gate, and what every call passes.
        visitors: says who looks at a page.

    Attributes:
        catalog: the tier gate.
    """

    def __init__(self, parts: PageParts, visitors: Visitors) -> None:
        self.catalog = parts.catalog
        self._run = parts.run
        self._limits = parts.limits
        self._visitors = visitors

    async def context(self, request: Request, visitor: Visitor) -> CallContext:
        """Who calls, for a request of a visitor: a browser has a session, a script may have a
        token."""
        context = context_of(request.scope)
        if context.caller.anonymous:
            context = context._replace(caller=await self._visitors.caller(visitor))
        return context

    async def call(
        self,
        context: CallContext,
        plugin: str,
        tool: str,
        given: Mapping[str, Any],
        *,
        counted: bool = False,
        in_person: bool = False,
    ) -> Answered:
        """Call one tool.

        Args:
            context: who calls.
            plugin: whose tool.
            tool: its name, as the plugin declares it.
            given: the arguments.
            counted: whether it counts among the calls that the caller may make. The same call again
                is no loop here: a page is loaded again, and may renew itself.
            in_person: whether it is a form that the caller's own person has sent.
        """
        name = self.catalog.called(plugin, tool) or tool
        answers: list[Any] = []

        def find() -> Target:
            item = self.catalog.tool(name, context.caller, plugin)

            def kept(value: Any, redactions: Sequence[Any]) -> bytes:
                answers.append(value)
                return b""

            return Target(item, item.declared.run, item.parse, kept)  # type: ignore[union-attr]

        async def arguments() -> Mapping[str, Any]:
            return given

        limit: Limit | None = None
        if counted and self._limits is not None:
            limit = partial(self._limits.take, context.caller, context.peer)
        outcome = await self._run(
            Call(
                context,
                "page",
                "tool",
                name,
                find,
                arguments,
                limit=limit,
                trace=context.headers,
                in_person=in_person,
            )
        )
        if outcome.error is not None:
            return Answered(error=outcome.error, scrubbed=bool(outcome.redactions))
        return Answered(answers[-1], scrubbed=bool(outcome.redactions))
