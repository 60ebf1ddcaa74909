"""The assistant of a portal: begins answers, ends them, and has them followed on any replica."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from auth import Caller
from gateway.approvals.approvals import Approvals
from gateway.assistant.conversation import Busy, State, Trouble, Turn, checked, unknown
from gateway.assistant.desk import Desk, Sources
from gateway.assistant.live import Live
from gateway.budgets.left import AskBudget, BudgetLeft
from gateway.catalog.catalog import Catalog
from gateway.contract import ToolFailed
from gateway.contract.services import Database
from gateway.discovery.discovery import Discovery
from gateway.observability.logs import get_logger
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.pipeline import Pipeline
from gateway.services.models.library import load_library
from gateway.toolkit.background import background, every, start

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from gateway.assistant.answers import AnswerStore
    from gateway.assistant.run import Task, Writer
    from gateway.assistant.store import ConversationStore

MAX_RUNNING = 3
"""Answers that are written for one person at a time, in one process."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at an answer that another replica writes."""
SILENT_LOOKS = 20
"""Looks without a sign of life after which its writer is taken for dead."""
UPKEEP_SECONDS = 3600.0

ModelFor = Callable[[Caller], Awaitable["Model"]]
"""``await model(caller)``: the model of the role ``chat``, metered for a caller."""

log = get_logger(__name__)


class Parts(NamedTuple):
    """What the assistant stands on.

    Attributes:
        portal: what the portal is called.
        database: where conversations are kept.
        catalog: the tier gate.
        discovery: fits lists of tools to models.
        pipeline: what every call passes.
        approvals: the requests for a person's yes.
        steps: how many requests to the model one answer may take.
        retention: how long a conversation is kept after its last word.
        model: the model; None where the portal has none for the role ``chat``.
        budget: says what is left of a person's budget.
    """

    portal: str
    database: Database
    catalog: Catalog
    discovery: Discovery
    pipeline: Pipeline
    approvals: Approvals
    steps: int
    retention: timedelta
    model: ModelFor | None
    budget: AskBudget


class Assistant:
    """Answers people, each in conversations of their own.

    Args:
        parts: what it stands on.

    Attributes:
        sources: says where the results of tools can be read; what draws pages sets it.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._live: dict[str, Live] = {}
        self._closing = self._loaded = False
        self.sources: Sources = _no_sources

    @property
    def is_there(self) -> bool:
        """Whether the portal has a model to chat with."""
        return self._parts.model is not None

    @cached_property
    def store(self) -> ConversationStore:
        """The conversations."""
        from gateway.assistant.store import ConversationStore

        return ConversationStore(self._parts.database)

    @cached_property
    def _answers(self) -> AnswerStore:
        from gateway.assistant.answers import AnswerStore

        return AnswerStore(self._parts.database)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Answer for as long as the block lasts; what is unfinished then can go on elsewhere."""
        if not self.is_there:
            yield
            return
        work = every(UPKEEP_SECONDS, self._forget, _not_forgotten, first_s=60.0)
        async with background(work, self.ready()):
            try:
                yield
            finally:
                await self.close()

    async def ready(self) -> None:
        """Wait until what writes answers is imported beside the event loop: it takes seconds."""
        if not self._loaded:
            await asyncio.to_thread(_load)
            self._loaded = True

    async def close(self) -> None:
        """End what is being written here, so that others can go on with it."""
        self._closing = True
        tasks = [each.task for each in self._live.values() if each.task]
        for live in list(self._live.values()):
            live.stop("interrupted")
        if tasks:
            await asyncio.wait(tasks)

    # What people do.

    async def ask(
        self, context: CallContext, message: str, conversation: str | None = None
    ) -> Turn:
        """Begin to answer a message.

        Args:
            context: who asks; they are signed in.
            message: what they write.
            conversation: where; None begins a conversation.

        Raises:
            NotFound: they have no such conversation.
            NotTaken: the message cannot be taken; the text says why.
            Busy: something else is under way.
        """
        person = self._person(context)
        question = await self._parts.pipeline.without_secrets(checked(message))
        self._check_room(person)
        run = secrets.token_hex(8)
        turn = await self.store.ask(person, question, run, conversation)
        self._begin(context, turn, run, {})
        return turn

    async def go_on(self, context: CallContext, conversation: str) -> Turn:
        """Go on with the last answer of a conversation.

        Raises:
            NotFound: they have no such conversation.
            Busy: it is complete, is being written, or waits for somebody's word.
        """
        person = self._person(context)
        last = (await self.store.get(person, conversation)).last
        if last is None:
            raise unknown(conversation)
        decided = await self._decided(last)
        self._check_room(person)
        run = secrets.token_hex(8)
        turn = await self._answers.take(person, last.id, run)
        self._begin(context, turn, run, decided)
        return turn

    async def stop(self, person: str, conversation: str) -> Turn:
        """End the last answer of a conversation, wherever it is written.

        Raises:
            NotFound: they have no such conversation.
        """
        last = (await self.store.get(person, conversation)).last
        if last is None:
            raise unknown(conversation)
        await self._answers.stop(person, last.id)
        if (live := self._live.get(last.id)) is not None and live.task is not None:
            live.stop("stopped")
            await asyncio.wait([live.task])
        return (await self.store.get(person, conversation)).last or last

    async def budget(self, caller: Caller) -> BudgetLeft | None:
        """What is left of somebody's budget; None where nothing limits them."""
        return await self._parts.budget(caller)

    async def follow(self, person: str, turn: str) -> AsyncGenerator[Turn, None]:
        """An answer whenever there is more of it, until it has ended.

        Args:
            person: whose it is.
            turn: the turn's id.
        """
        beat, silent = -1, 0
        while True:
            if (live := self._live.get(turn)) is not None and live.person == person:
                changed, now = live.changed, live.turn
                yield now
                if now.state != "running":
                    return
                await changed.wait()
                continue
            found = await self.store.turn(person, turn)
            if found is None:
                return
            yield found
            if found.state != "running":
                return
            silent = silent + 1 if found.beat == beat else 0
            beat = found.beat
            if silent >= SILENT_LOOKS:
                await self._answers.lapse(turn, beat)
                continue
            await asyncio.sleep(LOOK_SECONDS)

    # How.

    def _person(self, context: CallContext) -> str:
        if context.caller.person is None:
            raise Busy("Sign in first: a conversation is somebody's.")
        return context.caller.person

    def _check_room(self, person: str) -> None:
        if self._closing:
            raise Busy("The portal stops. Try again in a moment.")
        if sum(each.person == person for each in self._live.values()) >= MAX_RUNNING:
            raise Busy(f"{MAX_RUNNING} answers are being written for you. Wait for one to end.")

    async def _decided(self, turn: Turn) -> dict[str, Any]:
        """What became of the calls of an answer that wait, by the model's names for them.

        Raises:
            Busy: nobody has said anything yet.
        """
        decided: dict[str, Any] = {}
        for part in turn.parts:
            if part["kind"] != "call" or part["state"] != "waiting" or part["approval"] is None:
                continue
            asked = await self._parts.approvals.store.get(part["approval"]["id"])
            if asked is not None and asked.state == "waiting":
                raise Busy(f"{part['title']} still waits for the yes of {asked.who}.")
            decided[part["id"]] = asked is None or asked.state != "refused"
        return decided

    def _begin(self, context: CallContext, turn: Turn, run: str, decided: dict[str, Any]) -> None:
        live = Live(turn, self._person(context), run)
        self._live[turn.id] = live
        live.task = start(self._write(context, live, decided))
        live.task.add_done_callback(lambda _: self._over(live))

    def _over(self, live: Live) -> None:
        """Nobody waits here for an answer any more that nobody writes, however that ended."""
        self._live.pop(live.id, None)
        live.wake()

    async def _write(self, context: CallContext, live: Live, decided: dict[str, Any]) -> None:
        from gateway.assistant.answers import cut_short

        try:
            await self.ready()
            writer = await self._writer(context, live, decided)
        except asyncio.CancelledError:
            how = cut_short(live.why)
            await asyncio.shield(asyncio.ensure_future(self._end(live, *how)))
        except Exception as error:
            from gateway.assistant.run import trouble_of

            await self._end(live, "failed", trouble_of(error))
        else:  # it ends its answer itself, whatever happens
            await writer.write()

    async def _writer(self, context: CallContext, live: Live, decided: dict[str, Any]) -> Writer:
        from gateway.assistant.run import Writer

        parts = self._parts
        desk = Desk(parts.catalog, parts.discovery, parts.pipeline, context, self.sources)
        if parts.model is None:
            raise ToolFailed("no_model", "The portal has no model for this.")
        model = await parts.model(context.caller)
        task = await self._task(context, live, decided)
        return Writer(self._answers, live, desk, model, task)

    async def _end(self, live: Live, state: State, trouble: Trouble | None) -> None:
        """End an answer whose writer has not begun; what it had before is kept."""
        turn = live.turn
        if live.why != "gone":
            with suppress(Exception):  # whoever looks for it later finds that it has lapsed
                await self._answers.end(
                    turn.id, live.run, state, turn.parts, turn.messages, trouble
                )
        live.ended(state, trouble)

    async def _task(self, context: CallContext, live: Live, decided: dict[str, Any]) -> Task:
        from pydantic_ai import ToolDenied

        from gateway.assistant.prompt import history, instructions
        from gateway.assistant.run import Task

        turn, parts = live.turn, self._parts
        before = await self._before(live)
        now = self.store.clock()
        left = await parts.budget(context.caller)
        told = instructions(parts.portal, str(context.caller.tier), parts.steps, now, left)
        no = ToolDenied("The person said no to this call. Do not try it again.")
        answers = {id: True if yes else no for id, yes in decided.items()}
        return Task(turn.question, told, history(before), turn.messages, answers, parts.steps)

    async def _before(self, live: Live) -> list[Turn]:
        """What was said in a conversation before a turn of it."""
        turn = live.turn
        if turn.number == 1:
            return []
        said = await self.store.get(live.person, turn.conversation)
        return [each for each in said.turns if each.number < turn.number]

    async def _forget(self) -> None:
        gone = await self.store.forget(self.store.clock() - self._parts.retention)
        if gone:
            log.info("conversations_forgotten", count=gone)


def _load() -> None:
    """Import what writes answers, beside the event loop: the first question need not wait."""
    load_library()
    import gateway.assistant.run
    import gateway.assistant.stream
    import gateway.assistant.tools  # noqa: F401


def _not_forgotten(error: Exception) -> None:
    log.warning("conversations_not_forgotten", reason=str(error))


async def _no_sources(*_: Any) -> tuple[()]:
    return ()
