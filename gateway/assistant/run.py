"""Writes one answer: a model and the person's tools, in a few steps, saved as it grows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, UsageLimits
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessagesTypeAdapter,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolReturnPart,
)

from auth import BadCredential
from auth.stores import StoreUnavailable
from gateway.assistant.answers import AnswerStore, cut_short
from gateway.assistant.conversation import State, ToolCall, Trouble
from gateway.assistant.desk import Desk, Found, meant
from gateway.assistant.live import Live
from gateway.assistant.tools import DeskTools
from gateway.contract import ToolFailed
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background

if TYPE_CHECKING:
    from pydantic_ai.agent import AgentRunEvents
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

SAVE_SECONDS = 1.0
"""Seconds between two savings of an answer that is being written. It is also how soon a stop that
was asked for at another replica is heard."""

log = get_logger(__name__)
_agent: Agent[None, str | DeferredToolRequests] = Agent(
    output_type=[str, DeferredToolRequests], name="assistant"
)


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be answered.

    Attributes:
        question: what the person has asked.
        instructions: what the model is told before everything else.
        history: what was said before this turn.
        messages: what was said to the model and by it in this turn, where it goes on.
        decided: what became of the calls that waited: True where they may run, or why not.
        steps: how many requests to the model the answer may take.
    """

    question: str
    instructions: str
    history: Sequence[ModelMessage]
    messages: str | None
    decided: Mapping[str, Any]
    steps: int


class Writer:
    """Writes one answer.

    Args:
        answers: where it is saved.
        live: the answer as it grows.
        desk: calls the person's tools.
        model: the model of the role ``chat``.
        task: what is to be answered.
    """

    def __init__(
        self, answers: AnswerStore, live: Live, desk: Desk, model: Model, task: Task
    ) -> None:
        self._answers, self._live, self._desk = answers, live, desk
        self._model, self._task = model, task
        before = ModelMessagesTypeAdapter.validate_json(task.messages) if task.messages else []
        steps = sum(isinstance(each, ModelResponse) for each in before)
        self._before: list[ModelMessage] = before
        self._left = max(task.steps - steps, 1)
        self._tools = DeskTools(desk, task.question, self._left)
        self._messages: str | None = task.messages

    async def write(self) -> None:
        """Write the answer to its end, whatever that is; it is cancelled to end it early."""
        state: State = "failed"
        trouble: Trouble | None = None
        try:
            async with background(self._keep()):
                state = await self._written()
        except asyncio.CancelledError:
            state, trouble = cut_short(self._live.why)
        except Exception as error:
            trouble = trouble_of(error)
        await asyncio.shield(asyncio.ensure_future(self._end(state, trouble)))

    async def _written(self) -> State:
        decided = DeferredToolResults(approvals=dict(self._task.decided))
        async with _agent.run_stream_events(
            None if self._before else self._task.question,
            message_history=[*self._task.history, *self._before],
            deferred_tool_results=decided if self._task.decided else None,
            model=self._model,
            instructions=self._task.instructions,
            usage_limits=UsageLimits(request_limit=self._left),
            toolsets=[self._tools],
        ) as events:
            async for event in events:
                self._heard(event)
                if isinstance(event, FunctionToolCallEvent | PartStartEvent):  # a step has ended
                    self._remember(events)
            self._remember(events)
            result = events.result
        output = result.output if result is not None else ""
        if not isinstance(output, DeferredToolRequests):
            self._messages = None
            return "done"
        for call in output.approvals:
            asked = output.metadata.get(call.tool_call_id)
            self._live.waits(call.tool_call_id, Found("", approval=asked))
        return "waiting"

    def _heard(self, event: Any) -> None:
        """Take in what came from the model, or from a tool."""
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                self._live.begin_text(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self._live.say(text)
            case FunctionToolCallEvent(part=part):
                self._live.called(self._call(part))
            case FunctionToolResultEvent(part=part):
                self._answered(part)

    def _answered(self, part: ToolReturnPart) -> None:
        found = self._tools.found.pop(part.tool_call_id, None)
        if found is None:  # no tool was asked: there is none of that name, or somebody said no
            found = Found(part.model_response_str(), failed=True)
        if found.approval is None:
            refused = part.outcome == "denied"
            self._live.answered(part.tool_call_id, found, refused=refused)

    def _call(self, part: ToolCallPart) -> ToolCall:
        try:
            given = part.args_as_dict()
        except ValueError:
            given = {}
        tool, arguments = meant(part.tool_name, given)
        return {
            "kind": "call",
            "id": part.tool_call_id,
            "tool": tool,
            "title": self._desk.title(tool),
            "arguments": dict(arguments),
            "state": "running",
            "said": "",
            "sources": [],
            "approval": None,
        }

    def _remember(self, events: AgentRunEvents[Any]) -> None:
        """Keep what was said in this turn, from which any replica can go on."""
        own = events.all_messages()[len(self._task.history) :]
        if any(isinstance(each, ModelResponse) for each in own):
            self._messages = ModelMessagesTypeAdapter.dump_json(own).decode()

    async def _keep(self) -> None:
        """Save the answer again and again, and end it where it is to end."""
        saved: str | None = self._task.messages
        while True:
            await asyncio.sleep(SAVE_SECONDS)
            messages = None if self._messages == saved else self._messages
            try:
                parts = self._live.turn.parts
                word = await self._answers.save(self._live.id, self._live.run, parts, messages)
            except StoreUnavailable as away:
                log.warning("answer_not_saved", turn=self._live.id, reason=str(away))
                continue
            saved = messages or saved
            if word != "go on":
                self._live.stop("stopped" if word == "stop" else "gone")
                return

    async def _end(self, state: State, trouble: Trouble | None) -> None:
        self._live.cut()
        try:
            if self._live.why != "gone":
                parts, messages = self._live.turn.parts, self._messages
                await self._answers.end(
                    self._live.id, self._live.run, state, parts, messages, trouble
                )
        except StoreUnavailable as away:  # whoever looks for it later finds that it has lapsed
            log.warning("answer_not_saved", turn=self._live.id, reason=str(away))
        self._live.ended(state, trouble)


def trouble_of(error: Exception) -> Trouble:
    """What the person is told of an error."""
    if isinstance(error, ToolFailed):  # a ModelFailed, above all
        return Trouble(error.code, error.message)
    if isinstance(error, UsageLimitExceeded):
        return Trouble("too_many_steps", "It took more steps than one answer may. Ask for less.")
    if isinstance(error, UnexpectedModelBehavior):
        log.warning("answer_unreadable", reason=str(error)[:200])
        text = "The model gave an answer that cannot be used. Have it try once more."
        return Trouble("invalid_answer", text)
    if isinstance(error, BadCredential):
        return Trouble("signed_out", "You are not signed in any more. Sign in, and have it go on.")
    log.error("answer_failed", exc_info=error)
    return Trouble("internal_error", "Something went wrong here. Have it try once more.")
