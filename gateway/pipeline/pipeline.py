"""What every call passes, in order, whatever surface it came in by.

Take the secrets out of the arguments, validate them, run under a deadline, take the secrets out of
the answer, render it, then account for it: audit record, metrics and trace. Each stage is one line
of :meth:`Pipeline.call` or of what it calls, so that a further stage has one place to stand.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from auth import Caller
from gateway.catalog.items import Item
from gateway.contract import ToolFailed
from gateway.contract.paging import CURSOR_ARGUMENT, Listing
from gateway.contract.streams import StreamEvent
from gateway.errors import PortalError
from gateway.observability.audit import AuditLog, AuditRecord
from gateway.observability.logs import get_logger
from gateway.observability.metrics import Metrics
from gateway.observability.redaction import redactor
from gateway.observability.telemetry import call_span
from gateway.pipeline import call_context as exchanges
from gateway.pipeline.answer_scrub import AnswerScrub
from gateway.pipeline.call_context import Conversation, Gate
from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.pipeline.pager import Cursors, Pager, Place, page_of, purpose_of
from gateway.scrubbing.scrubber import Redaction, Scrubber

log = get_logger(__name__)

LONG = 200_000
"""Characters of arguments from which on looking for secrets would hold up other calls."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way through the pipeline.

    Attributes:
        item: what is called, as the catalog handed it out.
        run: ``await run(args, caller)``.
        parse: raw arguments to what ``run`` takes; raises ``ToolFailed`` on bad ones.
        raw: the arguments as they came in.
        caller: who calls.
        surface: ``mcp``, ``rest`` or ``cli``.
        exchange: the way to the client.
        trace: headers or ``_meta`` values that carry a W3C trace context.
        kind: what the records call it, where that is not the item's own kind.
    """

    item: Item
    run: Callable[[Any, Caller], Awaitable[Any]]
    parse: Callable[[Mapping[str, Any]], Any]
    raw: Mapping[str, Any]
    caller: Caller
    surface: str
    exchange: Conversation
    trace: Mapping[str, str] | None = None
    kind: str = ""


class Pipeline:
    """Runs calls.

    Args:
        audit: where every call is recorded.
        metrics: where every call is counted.
        deadline: seconds a call may take where its item does not say otherwise.
        cursors: seals where pages of results end.
        gate: says which other tools the caller of a call may use.
        scrubber: takes secrets out of the arguments, or None where they are left in.
        answers: takes secrets out of what is answered, or None where they are left in.
    """

    def __init__(
        self,
        audit: AuditLog,
        metrics: Metrics,
        deadline: float,
        cursors: Cursors,
        gate: Gate = exchanges.closed,
        scrubber: Scrubber | None = None,
        answers: AnswerScrub | None = None,
    ) -> None:
        self._audit = audit
        self._metrics = metrics
        self._deadline = deadline
        self._cursors = cursors
        self._gate = gate
        self._scrubber = scrubber
        self._answers = answers or AnswerScrub(enabled=False)

    async def call(self, call: Call, render: Callable[[Any], bytes]) -> bytes:
        """Take one call through every stage.

        Args:
            call: the call.
            render: the surface's way to turn the answer into bytes.

        Returns:
            The rendered answer.

        Raises:
            ToolFailed: the arguments are bad, the deadline passed, or the item says so.
            InternalError: anything else; logged here with its traceback, hidden from callers.
        """
        started = perf_counter()
        entered = exchanges.enter(call.exchange)
        call.exchange.call, call.exchange.gate = call, self._gate
        call.exchange.scrubber, call.exchange.redactions = self._scrubber, ()
        kind = call.kind or call.item.kind
        self._metrics.in_flight += 1
        with call_span(kind, call.item.name, call.caller.tier, call.trace) as span:
            outcome, rendered, error = await self._attempt(call, render)
            span.set_outcome(outcome, failed=error is not None)
        self._metrics.in_flight -= 1
        call.exchange.call = None
        exchanges.leave(entered)
        self._account(call, kind, outcome, perf_counter() - started, len(rendered))
        if error is not None:
            raise error
        return rendered

    async def _attempt(
        self, call: Call, render: Callable[[Any], bytes]
    ) -> tuple[str, bytes, BaseException | None]:
        try:
            answer, found = await self._answers.answer(call.item, await self._answer(call))
            self._count(call.item, found)
            return "ok", _rendered(answer, render), None
        except ToolFailed as failed:
            self._answers.failure(call.item, failed)
            failed.message, failed.details = sendable(failed.message), sendable(failed.details)
            return failed.code, b"", failed
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                return "cancelled", b"", cancelled
            # Nobody cancelled this call: the item awaited something of its own that was.
            return _broken(call, cancelled)
        except Exception as error:
            return _broken(call, error)

    async def _answer(self, call: Call) -> Any:
        given = await _scrubbed(call)
        if (page := page_of(call.item)) is None:
            return await self._run(call, call.parse(given))
        # Any surface may bring the cursor; the item itself knows nothing of it.
        raw = {name: value for name, value in given.items() if name != CURSOR_ARGUMENT}
        args = call.parse(raw)
        purpose = purpose_of(call.item, args, call.caller)
        after = self._cursors.open(given.get(CURSOR_ARGUMENT), purpose)
        return await self._run(call, args, Pager(page, self._cursors, purpose), after)

    async def _run(
        self, call: Call, args: Any, pager: Pager | None = None, after: Place | None = None
    ) -> Any:
        seconds = call.item.timeout or self._deadline
        try:
            async with asyncio.timeout(seconds) as deadline:
                found = await call.run(args, call.caller)
                if pager is None or not isinstance(found, Listing):
                    return found
                ready = await pager.ready(found, after)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise ToolFailed(
                "deadline", f"{call.item.name} took longer than {seconds:g} s. Ask for less."
            ) from None
        return pager.show(found, after, ready)

    async def streamed(
        self, item: Item, events: AsyncGenerator[StreamEvent, None]
    ) -> AsyncGenerator[StreamEvent, None]:
        """The events of a stream that a call has opened, without the secrets in them."""
        async with aclosing(events):
            async for event in events:
                data, found = await self._answers.answer(item, event.data)
                self._count(item, found)
                yield replace(event, data=data) if found else event

    def refused(self, error: PortalError, name: str, call: Refused) -> None:
        """Account for a call that was turned away, by the catalog or by a limit."""
        self._audit.write(
            AuditRecord(
                at=datetime.now(UTC),
                request_id=call.request_id,
                person=call.caller.person,
                tier=call.caller.tier,
                item=error.item or _printable(self._without_secrets(name)),
                kind=call.kind,
                surface=call.surface,
                outcome=error.code,
                milliseconds=0.0,
                bytes_out=0,
            )
        )
        item = name if error.item else "unknown"
        self._metrics.observe(item, call.kind, call.caller.tier, error.code, 0.0, 0)

    def _without_secrets(self, name: str) -> str:
        return self._scrubber.text(name[:1000])[0] if self._scrubber else name

    def _count(self, item: Item, found: Sequence[Redaction]) -> None:
        for each in found:
            self._metrics.redacted(each.rule, item.name)

    def _account(self, call: Call, kind: str, outcome: str, seconds: float, size: int) -> None:
        item, tier = call.item, call.caller.tier
        if call.exchange.redactions:
            found = sorted(each.rule for each in call.exchange.redactions)
            log.info("arguments_scrubbed", item=item.key, rules=found)
            self._count(item, call.exchange.redactions)
        self._metrics.observe(item.name, kind, tier, outcome, seconds, size)
        self._audit.write(
            AuditRecord(
                at=datetime.now(UTC),
                request_id=call.exchange.request_id,
                person=call.caller.person,
                tier=tier,
                item=item.key,
                kind=kind,
                surface=call.surface,
                outcome=outcome,
                milliseconds=seconds * 1000,
                bytes_out=size,
            )
        )


async def _scrubbed(call: Call) -> Mapping[str, Any]:
    """The arguments without their secrets; long ones are looked through beside the event loop."""
    if _left(call.raw, LONG) < 0:
        return await asyncio.to_thread(call.exchange.scrubbed, call.raw, call.item.opaque)
    return call.exchange.scrubbed(call.raw, call.item.opaque)


def _left(value: Any, room: int) -> int:
    """What is left of some room once a JSON value is in it; below 0 it does not fit."""
    if isinstance(value, str):
        return room - len(value)
    parts = value.values() if isinstance(value, Mapping) else value
    for each in parts if isinstance(value, Mapping | list) else ():
        room = _left(each, room - 1)
        if room < 0:
            break
    return room


def _rendered(answer: Any, render: Callable[[Any], bytes]) -> bytes:
    try:
        return render(answer)
    except UNSENDABLE:
        return render(sendable(answer))


def _broken(call: Call, error: BaseException) -> tuple[str, bytes, InternalError]:
    log.error("call_failed", item=call.item.key, exc_info=error)
    return "internal_error", b"", InternalError(call.exchange.request_id)


def _printable(name: str) -> str:
    # A caller wrote it: it may be a token put in the wrong place, and no database has to take a
    # NUL, nor a terminal an escape sequence.
    shown = redactor.text(name[:1000])[:200]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)


@dataclass(frozen=True, slots=True)
class Refused:
    """Who was turned away, and where, for the record."""

    caller: Caller
    kind: str
    surface: str
    request_id: str


class InternalError(Exception):
    """Something of ours went wrong; the caller learns the request id and no more."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"Something went wrong here. Tell the admin the request id {request_id}.")
        self.request_id = request_id
