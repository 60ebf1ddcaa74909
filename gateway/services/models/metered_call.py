"""One request to a provider, from the budget's yes to the completed row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from gateway.contract.models import ModelFailed
from gateway.observability.logs import get_logger, request_id
from gateway.observability.redaction import redactor
from gateway.services.models.budget import Budget
from gateway.services.models.failures import connects_not, failure_of
from gateway.services.models.ledger import CLOCKS_DIFFER, Ledger
from gateway.services.models.prices import cost_of
from gateway.services.models.provider import OpenProvider
from gateway.services.models.records import CallEnd, CallStart, Outcome, Purpose, Tokens
from gateway.services.models.telemetry import after, before, span_name
from gateway.toolkit import spans

if TYPE_CHECKING:
    from opentelemetry.trace import Span
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.usage import RequestUsage

__all__ = ["Accounts", "MeteredCall", "Sink", "Target", "metered"]

_MAX_TOKENS = 10**9
"""No answer has more: a server that says so counts wrongly."""
_MAX_NAME_CHARACTERS = 200

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Target:
    """A model at a provider."""

    provider: OpenProvider
    model: str


Sink = Callable[[CallStart, CallEnd], None]


@dataclass(frozen=True, slots=True)
class Accounts:
    """What every request passes.

    Attributes:
        budget: gives the budget that holds now.
        ledger: writes what calls cost.
        sinks: are told of each call that has ended; they return at once.
    """

    budget: Callable[[], Budget]
    ledger: Ledger
    sinks: Sequence[Sink]


class MeteredCall:
    """A request that runs.

    Attributes:
        start: what was known before it.
        end: how it ended, or None while it runs.
    """

    def __init__(self, start: CallStart, target: Target) -> None:
        self.start = start
        self.end: CallEnd | None = None
        self._target = target
        self._began = time.perf_counter()
        self._answer: ModelResponse | None = None
        self._outcome: Outcome = "ok"

    def answered(self, answer: ModelResponse, outcome: Outcome = "ok") -> None:
        """Note the answer, or as much of it as there was, and what it is worth."""
        self._answer, self._outcome = answer, outcome

    def ended(self, outcome: Outcome | None = None) -> CallEnd:
        """How it ended, with its cost.

        Args:
            outcome: why there is no answer, or None where there is one.
        """
        answer, target = self._answer, self._target
        latency_ms = round((time.perf_counter() - self._began) * 1000)
        outcome = outcome or self._outcome
        if answer is None:
            self.end = CallEnd(outcome, latency_ms)
            return self.end
        name = answer.model_name[:_MAX_NAME_CHARACTERS] if answer.model_name else None
        tokens = _tokens(answer.usage)
        names = tuple(filter(None, (target.model, name)))
        config, at = target.provider.config, self.start.at
        cost = tokens and cost_of(tokens, config.kind, names, at, config.prices)
        self.end = CallEnd(
            outcome,
            latency_ms,
            name,
            tokens,
            cost.nano_usd if cost else None,
            cost.price_list if cost else None,
            at.date() if cost else None,
        )
        return self.end


def _tokens(usage: RequestUsage) -> Tokens | None:
    """What a provider counted; None where it said nothing, or what cannot be."""
    counted = Tokens(
        usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
    )
    numbers = (counted.input, counted.output, counted.cache_read, counted.cache_write)
    if not any(numbers) or not all(0 <= each <= _MAX_TOKENS for each in numbers):
        return None
    if counted.cache_read + counted.cache_write > counted.input:
        return None
    return counted


@asynccontextmanager
async def metered(
    target: Target, purpose: Purpose, accounts: Accounts
) -> AsyncGenerator[MeteredCall]:
    """Wait for a turn, ask the budget, write that a request is made, and at the end what it cost.

    Raises:
        ModelFailed: no request is made, or it failed; what the block raises is mapped to one.
    """
    provider = target.provider
    provider.check()
    async with provider.slots:
        start = _start(target, purpose)
        await accounts.budget().before_call(purpose.caller, start)
        await accounts.ledger.begin(start)
        call = MeteredCall(start, target)
        span = spans.begin(span_name(start), before(start, provider.config.kind))
        try:
            yield call
        except BaseException as error:
            failure = _noted(error, target)
            end = call.ended(failure.code if failure else "cancelled")
            await _finished(accounts, start, end, span)
            if failure is None or failure is error:
                raise
            raise failure from None
        provider.failing = ""
        await _finished(accounts, start, call.ended(), span)


def _start(target: Target, purpose: Purpose) -> CallStart:
    now = datetime.now(UTC)
    lasts = timedelta(seconds=target.provider.longest_s) + CLOCKS_DIFFER
    return CallStart(
        id=uuid4().hex,
        at=now,
        ends_by=now + lasts,
        person=purpose.caller.person if purpose.caller else None,
        plugin=purpose.plugin,
        source=purpose.source,
        operation=purpose.operation,
        role=purpose.role,
        provider=target.provider.name,
        model=target.model,
        request_id=request_id.get(),
    )


async def _finished(accounts: Accounts, start: CallStart, end: CallEnd, span: Span | None) -> None:
    """Complete the row, also where the caller has gone."""
    if span is not None:
        span.set_attributes(after(end))
        span.end()

    async def both() -> None:
        await accounts.ledger.finish(start, end)
        await accounts.budget().after_call(start, end)
        for sink in accounts.sinks:
            sink(start, end)

    await asyncio.shield(asyncio.ensure_future(both()))


def _for_the_log(error: Exception) -> dict[str, object]:
    """What an admin needs of a provider's error: no text of it, which may repeat the prompt."""
    names = ("status_code", "provider_error_code", "provider_error_type")
    said = {name: value for name in names if (value := getattr(error, name, None)) is not None}
    return {"error": type(error).__name__, **redactor.value(said)}


def _noted(error: BaseException, target: Target) -> ModelFailed | None:
    """What an error means for the caller, noted for the admin; None of what is no provider's."""
    if not isinstance(error, Exception):
        return None
    provider = target.provider
    failure = failure_of(error, provider.name, target.model)
    if failure is None:  # of who reads a stream, or a fault of ours
        return None
    if failure is not error:
        log.warning(
            "model_call_failed",
            provider=provider.name,
            model=target.model,
            outcome=failure.code,
            **_for_the_log(error),
        )
    if failure.code == "misconfigured":
        provider.failing = failure.message
    if connects_not(error):
        provider.breaker.failed(error)
    return failure
