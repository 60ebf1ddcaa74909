"""What every call passes, in order, whatever surface it came in by.

Find the item, count the call, take the secrets out of the arguments, validate them, run under a
deadline, take the secrets out of the answer, render it, then account for it: audit record, metrics
and trace. Whoever says no raises, at whichever stage; :meth:`Pipeline.call` alone catches, and
tells the surface by the :class:`gateway.pipeline.call.Outcome`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from auth import Caller
from gateway.catalog.items import Item
from gateway.catalog.schemas import check_lengths
from gateway.contract import ConnectionNeeded, ToolFailed
from gateway.contract.answer_size import CURSOR_ARGUMENT, Listing
from gateway.contract.backend_errors import is_database_away
from gateway.contract.streams import StreamEvent
from gateway.errors import PortalError
from gateway.limits.rate_counter import LimitReached
from gateway.limits.sliding_window import Taken
from gateway.observability.audit import AuditLog
from gateway.observability.audit_record import AuditRecord
from gateway.observability.logs import get_logger
from gateway.observability.metrics import Metrics
from gateway.observability.redaction import redactor
from gateway.observability.telemetry import call_span
from gateway.observability.tracebacks import Tracebacks
from gateway.pipeline import exchange as exchanges
from gateway.pipeline.answer_scrub import AnswerScrub
from gateway.pipeline.approval_gate import ApprovalGate, Waiting, Work
from gateway.pipeline.argument_scrub import ArgumentScrub
from gateway.pipeline.bulkheads import Bulkheads, Lent
from gateway.pipeline.call import Call, InternalError, Outcome, Target
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.client_models import InputNeeded
from gateway.pipeline.cursors import Cursors, Place, purpose_of
from gateway.pipeline.exchange import CallExchange, Others
from gateway.pipeline.inner_calls import InnerCalls
from gateway.pipeline.json_chunks import Body, Pieces
from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.pipeline.pager import Pager, page_of
from gateway.pipeline.question_clock import QuestionClock
from gateway.scrubbing.opaque import NOTHING
from gateway.scrubbing.scrubber import Redaction
from gateway.toolkit.eager_start import within
from gateway.toolkit.spans import span
from gateway.toolkit.time_slices import in_turns

_Attempt = tuple[str, Body, Exception | asyncio.CancelledError | None]
"""How an attempt ended: the word for the records, the rendered answer, the error."""

_tracebacks = Tracebacks()
_UNAVAILABLE = "unavailable"
_AWAY = (
    "The portal's database does not answer just now. Try again in a minute; where this was to "
    "write something, look first whether it is there. What needs no database works meanwhile."
)

log = get_logger(__name__)


class Scrubs(NamedTuple):
    """What takes secrets out.

    Attributes:
        arguments: of the arguments.
        answers: of what is answered.
    """

    arguments: ArgumentScrub
    answers: AnswerScrub


class Pipeline:
    """Runs calls.

    Args:
        audit: where every call is recorded.
        metrics: where every call is counted.
        cursors: seals where pages of results end.
        others: says what else of the portal the caller of a call may use.
        scrubs: take secrets out of arguments and answers.
        bulkheads: how much each plugin and item may take, and how long.
        gate: has some tools wait for a person's yes.

    Attributes:
        inner: runs the calls that tools make of others.
    """

    def __init__(
        self,
        audit: AuditLog,
        metrics: Metrics,
        cursors: Cursors,
        others: Others,
        scrubs: Scrubs,
        bulkheads: Bulkheads,
        gate: ApprovalGate,
    ) -> None:
        self._audit = audit
        self._metrics = metrics
        self._cursors = cursors
        self._others = others
        self._arguments = scrubs.arguments
        self._answers = scrubs.answers
        self._bulkheads = bulkheads
        self._gate = gate
        self._writing = asyncio.Lock()
        self.inner = InnerCalls(self.call)
        waiting = "Calls that wait because their plugin is busy."
        metrics.gauges("calls_waiting", waiting, ("plugin",), bulkheads.waiting)

    async def call(self, call: Call) -> Outcome:
        """Take one call through every stage.

        Args:
            call: the call.

        Returns:
            What came of it. Of what is not ours to tell, the error is an :class:`InternalError`;
            it is logged here, with its traceback.
        """
        target, taken = None, None
        try:
            try:
                target = call.find()
            finally:  # a call counts whatever comes of it
                taken = await self._count(call, target)
            raw = await call.arguments()
        except PortalError as refusal:
            self.refuse(refusal, call.context, call.surface, call.kind, call.name)
            limited = refusal.taken if isinstance(refusal, LimitReached) else taken
            return Outcome(error=refusal, taken=limited)
        except Exception as error:
            return Outcome(error=error, taken=taken)
        return await self._run(call, target, raw, taken)

    def refuse(
        self, refusal: PortalError, context: CallContext, surface: str, kind: str, name: str
    ) -> None:
        """Account for what was turned away, by the catalog or by a limit.

        Args:
            refusal: why.
            context: who asked.
            surface: as of a :class:`gateway.pipeline.call.Call`.
            kind: likewise.
            name: likewise.
        """
        item = refusal.item or _printable(self._arguments.text(name[:1000]))
        self._record(context, surface, item, kind, refusal.code, 0.0, 0)
        known = name if refusal.item else "unknown"
        self._metrics.observe(known, kind, context.caller.tier, refusal.code, 0.0, 0)

    def said_back(self, text: str, redactions: Sequence[Redaction]) -> str:
        """What a caller wrote, as it may be said back: without what its call has lost."""
        return self._arguments.text(text) if redactions else text

    async def without_secrets(self, text: str) -> str:
        """What somebody wrote to an assistant, without the secrets in it."""
        clean, _ = await self._arguments.arguments({"text": text}, NOTHING)
        return str(clean["text"])

    async def streamed(
        self, item: Item, events: AsyncGenerator[StreamEvent, None]
    ) -> AsyncGenerator[StreamEvent, None]:
        """The events of a stream that a call has opened, without the secrets in them."""
        async with aclosing(events):
            async for event in events:
                looked = await self._answers.answer(item, event.data)
                self._count_redactions(item, looked.found)
                yield replace(event, data=looked.value) if looked.found else event

    async def _count(self, call: Call, target: Target | None) -> Taken | None:
        if call.limit is None or call.context.local:  # a person on the portal's own machine
            return None
        try:
            return await call.limit(target.item.name if target else "")
        except LimitReached as reached:
            reached.item = target.item.key if target else ""
            self._metrics.limit_reached(reached.taken.rate.name)
            raise

    async def _run(
        self, call: Call, target: Target, raw: Mapping[str, Any], taken: Taken | None
    ) -> Outcome:
        started = perf_counter()
        item, context, kind = target.item, call.context, target.kind or target.item.kind
        exchange = CallExchange(
            call,
            item,
            self._others,
            partial(self.inner.call, call),
            self._arguments,
            QuestionClock(self._bulkheads.question),
        )
        entered = exchanges.enter(exchange)
        self._metrics.in_flight += 1
        try:
            with call_span(kind, item.name, context.caller.tier, call.trace) as span:
                attempt = self._attempt if exchange.credential is None else self._hidden
                outcome, body, error = await attempt(target, raw, context, exchange)
                span.set_outcome(outcome, failed=error is not None)
        finally:
            self._metrics.in_flight -= 1
        exchange.end()
        exchanges.leave(entered)
        seconds, redactions = perf_counter() - started, exchange.redactions
        if redactions:
            rules = sorted(each.rule for each in redactions)
            log.info("arguments_scrubbed", item=item.key, rules=rules)
            self._count_redactions(item, redactions)
        self._metrics.observe(item.name, kind, context.caller.tier, outcome, seconds, len(body))
        self._record(context, call.surface, item.key, kind, outcome, seconds, len(body))
        if isinstance(error, asyncio.CancelledError):
            raise error
        return Outcome(body, error, item, taken, redactions)

    async def _hidden(
        self, target: Target, raw: Mapping[str, Any], context: CallContext, exchange: CallExchange
    ) -> _Attempt:
        """The attempt, while nothing that is written shows the caller's own credential."""
        with redactor.hiding(exchange.credential or ""):
            attempt = await self._attempt(target, raw, context, exchange)
            if isinstance(failed := attempt[2], ToolFailed):
                failed.message = redactor.text(failed.message)
                failed.details = redactor.value(failed.details)
            return attempt

    async def _attempt(
        self, target: Target, raw: Mapping[str, Any], context: CallContext, exchange: CallExchange
    ) -> _Attempt:
        item = target.item
        try:
            value = await self._value(target, raw, context, exchange)
            with span("scrub answer"):
                looked = await self._answers.answer(item, value, self._bulkheads.check)
            self._count_redactions(item, looked.found)
            if looked.is_long:
                return "ok", await self._written(target, looked.value, exchange.redactions), None
            return "ok", _rendered(target, looked.value, exchange.redactions), None
        except ToolFailed as failed:
            if isinstance(failed, ConnectionNeeded):
                failed.lead(context.base, item.plugin, context.caller)
            self._answers.failure(item, failed)
            failed.message, failed.details = sendable(failed.message), sendable(failed.details)
            return failed.code, b"", failed
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                return "cancelled", b"", cancelled
            # Nobody cancelled this call: the item awaited something of its own that was.
            return _broken(item, context, cancelled)
        except GeneratorExit:  # the call itself is thrown away
            raise
        except BaseException as error:  # an item may not end the portal: SystemExit fails as others
            return _broken(item, context, error)

    async def _written(self, target: Target, answer: Any, redactions: Sequence[Redaction]) -> Body:
        """A long answer, written in turns with others; one such answer after the other."""
        if target.pieces is None:
            return _rendered(target, answer, redactions)
        async with self._writing:
            return Pieces(await in_turns(target.pieces(answer, redactions)))

    async def _value(
        self, target: Target, raw: Mapping[str, Any], context: CallContext, exchange: CallExchange
    ) -> Any:
        item = target.item
        if not target.operation:
            check_lengths(raw, item.longest)
        with span("scrub arguments"):
            given, found = await self._arguments.arguments(raw, item.opaque)
        exchange.redactions = tuple(found)
        exchange.resume(target.resume())
        if (page := page_of(item)) is None:
            work: Work = partial(_found, target, target.parse(given), context.caller)
            return await self._within_deadline(target, exchange, given, work)
        # Any surface may bring the cursor; the item itself knows nothing of it.
        args = target.parse({key: each for key, each in given.items() if key != CURSOR_ARGUMENT})
        purpose = purpose_of(item, args, context.caller)
        after = self._cursors.open(given.get(CURSOR_ARGUMENT), purpose)
        pager = Pager(page, self._cursors, purpose)
        work = partial(_found, target, args, context.caller, pager, after)
        return await self._within_deadline(target, exchange, given, work)

    async def _within_deadline(
        self,
        target: Target,
        exchange: CallExchange,
        given: Mapping[str, Any],
        work: Work,
    ) -> Any:
        item = target.item
        # A call of another kind is about a tool, such as a task that one has begun, and runs none.
        if not target.kind and (self._gate.rules or exchange.confirm is not None):
            work = self._gate.guarded(Waiting(item, target.operation, given, exchange), work)
        heads, entered = self._bulkheads.of(item), 0
        seconds = heads[-1].seconds or item.timeout or self._bulkheads.deadline

        def late() -> ToolFailed:
            text = f"{item.name} took longer than {seconds:g} s. Ask for less."
            return ToolFailed("deadline", text)

        try:
            for head in heads:
                if head.running >= head.calls:
                    await head.wait(seconds)
                else:
                    head.running += 1
                entered += 1
            exchange.place = Lent(heads[0])
            return await within(seconds, work(), late, exchange.clock.runs)
        finally:
            for head in heads[:entered]:
                head.leave()

    def _count_redactions(self, item: Item, found: Sequence[Redaction]) -> None:
        for each in found:
            self._metrics.redacted(each.rule, item.name)

    def _record(
        self,
        context: CallContext,
        surface: str,
        item: str,
        kind: str,
        outcome: str,
        seconds: float,
        size: int,
    ) -> None:
        self._audit.write(
            AuditRecord(
                datetime.now(UTC),
                context.request_id,
                context.caller.person,
                context.caller.tier,
                item,
                kind,
                context.way(surface),
                outcome,
                seconds * 1000,
                size,
            )
        )


async def _found(
    target: Target,
    args: Any,
    caller: Caller,
    pager: Pager | None = None,
    after: Place | None = None,
) -> Any:
    try:
        found = await target.run(args, caller)
    except InputNeeded as needed:  # the client's model is asked, and the call comes again
        return needed.result
    if pager is None or not isinstance(found, Listing):
        return found
    return pager.show(found, after, await pager.ready(found, after))


def _rendered(target: Target, answer: Any, redactions: Sequence[Redaction]) -> bytes:
    try:
        return target.render(answer, redactions)
    except UNSENDABLE:
        return target.render(sendable(answer), redactions)


def _broken(item: Item, context: CallContext, error: BaseException) -> _Attempt:
    if is_database_away(error):
        log.warning("call_without_database", item=item.key, reason=type(error).__name__)
        return _UNAVAILABLE, b"", ToolFailed(_UNAVAILABLE, _AWAY)
    log.error("call_failed", item=item.key, **_tracebacks.fields(item.key, error))
    return "internal_error", b"", InternalError(context.request_id)


def _printable(name: str) -> str:
    # A caller wrote it: it may be a token put in the wrong place, and no database has to take a
    # NUL, nor a terminal an escape sequence.
    shown = redactor.text(name[:1000])[:200]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)
