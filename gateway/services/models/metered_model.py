"""The portal's model for pydantic-ai: every request is budgeted, metered, and tried elsewhere.

Whoever runs an agent on it, or asks it once, is metered the same: one row for each request that a
provider got, also where one is repeated or goes to the fallback.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel

from gateway.contract.models import ModelFailed
from gateway.services.models.failures import read_or_refused
from gateway.services.models.metered_call import (
    Accounts,
    MeteredCall,
    Target,
    metered,
)
from gateway.services.models.prompt_scrub import PromptScrub
from gateway.services.models.records import Outcome, Purpose
from gateway.toolkit.retry import backoff

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.settings import ModelSettings

__all__ = ["MeteredModel"]

MAX_PAUSE_SECONDS = 5.0
"""Seconds that a call waits for another try; a provider that wants more is not asked meanwhile."""
_FIRST_PAUSE_SECONDS = 0.5
_REPEATED = frozenset({"throttled", "provider_down"})
"""What may be over in a moment."""
_ELSEWHERE = frozenset({"throttled", "provider_down", "timeout", "misconfigured"})
"""What another provider may do better."""

T = TypeVar("T")


class MeteredModel(WrapperModel):
    """The model of a role, for one purpose.

    Args:
        targets: the role's model, and then the fallback where there is one.
        purpose: what it is asked for.
        accounts: what each request passes.
        scrub: takes secrets out of what is sent.
        retries: how often a request is repeated, at each target.
        judge: says of an answer what it is worth; by default it is good.

    Attributes:
        last: the last call that was answered; there is none before the first.
    """

    last: MeteredCall

    def __init__(
        self,
        targets: Sequence[Target],
        purpose: Purpose,
        accounts: Accounts,
        scrub: PromptScrub,
        retries: int,
        judge: Callable[[ModelResponse], Outcome] = lambda _: "ok",
    ) -> None:
        super().__init__(targets[0].provider.model(targets[0].model))
        self._targets, self._purpose, self._accounts = targets, purpose, accounts
        self._scrub, self._retries, self._judge = scrub, retries, judge

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Ask, and wait for the whole answer.

        Raises:
            ModelFailed: there is no answer.
        """
        sent = self._scrub.messages(messages)
        wanted = self._scrub.parameters(model_request_parameters)

        async def once(target: Target) -> ModelResponse:
            async with metered(target, self._purpose, self._accounts) as call:
                model = target.provider.model(target.model)
                async with asyncio.timeout(target.provider.timeout_s):
                    asked = _named(model_settings, call)
                    with read_or_refused():
                        answer = await model.request(sent, asked, wanted)
                self._answered(call, answer)
            return answer

        return await self._somewhere(once)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Ask, and read the answer as it comes; what fails before it begins is tried elsewhere.

        Raises:
            ModelFailed: there is no answer, or it broke off.
        """
        sent = self._scrub.messages(messages)
        wanted = self._scrub.parameters(model_request_parameters)

        async def begun(target: Target) -> tuple[AsyncExitStack, MeteredCall, StreamedResponse]:
            async with AsyncExitStack() as stack:
                call = await stack.enter_async_context(
                    metered(target, self._purpose, self._accounts)
                )
                opening = target.provider.model(target.model).request_stream(
                    sent,
                    _named(model_settings, call),
                    wanted,
                    run_context,
                )
                async with asyncio.timeout(target.provider.timeout_s):
                    stream = await stack.enter_async_context(opening)
                return stack.pop_all(), call, stream

        stack, call, stream = await self._somewhere(begun)
        async with stack:
            try:
                yield stream
            finally:
                answer = stream.get()
                if answer.state == "complete":
                    self._answered(call, answer)
                else:
                    call.answered(answer, "cancelled")

    def _answered(self, call: MeteredCall, answer: ModelResponse) -> None:
        call.answered(answer, self._judge(answer))
        self.last = call

    async def _somewhere(self, once: Callable[[Target], Awaitable[T]]) -> T:
        """Ask each target in turn until one answers; the first one's failure where none does."""
        failures = list[ModelFailed]()
        for target in self._targets:
            try:
                return await self._repeatedly(target, once)
            except ModelFailed as failure:
                failures.append(failure)
                if failure.code not in _ELSEWHERE:
                    break
        raise failures[0]

    async def _repeatedly(self, target: Target, once: Callable[[Target], Awaitable[T]]) -> T:
        pauses = backoff(_FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        for left, pause in zip(range(self._retries, -1, -1), pauses, strict=False):
            try:
                return await once(target)
            except ModelFailed as failure:
                wait = max(pause, failure.retry_after_s or 0)
                if wait > MAX_PAUSE_SECONDS and failure.code == "throttled":
                    target.provider.throttled(wait)
                if not left or failure.code not in _REPEATED or wait > MAX_PAUSE_SECONDS:
                    raise
                if target.provider.breaker.is_open:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")  # pragma: no cover


def _named(settings: ModelSettings | None, call: MeteredCall) -> ModelSettings:
    """The settings with the call's id, by which a provider's log is held against the table.

    OpenAI documents the header. Anthropic documents only the id of its own that an answer has; its
    own clients send this header too.
    """
    given: ModelSettings = settings or {}
    headers = {**given.get("extra_headers", {}), "X-Client-Request-Id": call.start.id}
    return {**given, "extra_headers": headers}
