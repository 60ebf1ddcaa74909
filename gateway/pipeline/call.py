"""One call: what a surface asks of the pipeline, and what comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from gateway.catalog.approval_rule import ApprovalRule
from gateway.catalog.items import Item
from gateway.contract import Caller
from gateway.limits.sliding_window import Taken
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.exchange import NO_CLIENT, Client, Resumption
from gateway.pipeline.json_chunks import Body
from gateway.scrubbing.scrubber import Redaction

Limit = Callable[[str], Awaitable[Taken | None]]
"""Counts a call of the item of that name, "" where the caller has found none; raises
:class:`gateway.limits.rate_counter.LimitReached`."""


NOTHING_BEFORE = Resumption()


def begin_anew() -> Resumption:
    """The call goes on with nothing."""
    return NOTHING_BEFORE


def bring_no_credential(plugin: str) -> str | None:
    """The caller has no credential for any plugin's upstream."""
    return None


class Target(NamedTuple):
    """What a call has found: an item that its caller may use, and how it is run.

    Attributes:
        item: what is called, as the catalog handed it out.
        run: ``await run(args, caller)``.
        parse: arguments without secrets to what ``run`` takes; raises ``ToolFailed`` on bad ones.
        render: what ``run`` gave, and what the arguments lost, as the surface's bytes.
        resume: what the call goes on with; raises ``ToolFailed`` where that is not good.
        kind: what the records call it, where that is not the item's own kind.
        pieces: the same as ``render``, for an answer that is long; None where none is.
        operation: the way in, where it has arguments of its own: they are not the item's.
    """

    item: Item
    run: Callable[[Any, Caller], Awaitable[Any]]
    parse: Callable[[Mapping[str, Any]], Any]
    render: Callable[[Any, Sequence[Redaction]], bytes]
    resume: Callable[[], Resumption] = begin_anew
    kind: str = ""
    pieces: Callable[[Any, Sequence[Redaction]], Iterator[bytes]] | None = None
    operation: str = ""


class Call(NamedTuple):
    """One call as a surface hands it to the pipeline.

    Attributes:
        context: who calls.
        surface: ``mcp`` or ``rest``.
        kind: what the records call it where it finds nothing.
        name: what it asked for.
        find: what it leads to; raises ``NotFound`` or ``NotAllowed``.
        arguments: ``await arguments()`` gives them as they came in.
        client: the way back.
        limit: counts it, or None where nothing does.
        credential: the caller's own for a plugin's upstream.
        trace: headers or ``_meta`` values that carry a W3C trace context.
        depth: how many calls it runs within.
        meta: the request's ``_meta``, where it has one.
        in_person: whether the caller's own person has sent it, with a form of a page that their
            browser's session proves: where their own yes is asked for, that is it.
        confirm: whose yes whatever may write waits for beside what ``tiers.yaml`` asks for; None
            where a call by this way in is the caller's own doing.
    """

    context: CallContext
    surface: str
    kind: str
    name: str
    find: Callable[[], Target]
    arguments: Callable[[], Awaitable[Mapping[str, Any]]]
    client: Client = NO_CLIENT
    limit: Limit | None = None
    credential: Callable[[str], str | None] = bring_no_credential
    trace: Mapping[str, str] | None = None
    depth: int = 0
    meta: Mapping[str, Any] = MappingProxyType({})
    in_person: bool = False
    confirm: ApprovalRule | None = None


class Outcome(NamedTuple):
    """What came of a call.

    Attributes:
        body: the rendered answer, where there is no error.
        error: a refusal (``PortalError``), a failure (``ToolFailed``), an :class:`InternalError`,
            or what the surface itself raised while it read the arguments.
        item: what was called, where the caller may know of it.
        taken: how often the caller may call yet, where that is limited.
        redactions: what was taken out of the arguments.
    """

    body: Body = b""
    error: Exception | None = None
    item: Item | None = None
    taken: Taken | None = None
    redactions: tuple[Redaction, ...] = ()


class InternalError(Exception):
    """Something of ours went wrong; the caller learns the request id and no more."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"Something went wrong here. Tell the admin the request id {request_id}.")
        self.request_id = request_id
