"""The requests that run on one connection, and what the server says while they do."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

from plugins.upstreams.wire.call import Call
from plugins.upstreams.wire.connection import Back, Told
from plugins.upstreams.wire.errors import RpcError, WireError
from plugins.upstreams.wire.messages import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Message,
    answer,
    refusal,
)
from plugins.upstreams.wire.notifier import Notifier

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
MAX_OPEN = 1000
"""Questions and answers that are open at a time before more questions are dropped."""
FORGOTTEN_AFTER_S = 300.0
"""Seconds for which a request that was given up may still ask a question."""


class Answers(Protocol):
    """Where the answers to a server's questions go."""

    async def send(self, message: Message) -> None:
        """Send a message that nothing answers."""


class Calls:
    """Every request that runs on a connection.

    Args:
        answers: takes what questions are answered.
        told: hears what belongs to no request; None if nobody does.

    Attributes:
        oddities: how often the server said something that has no place.
        notifier: passes on what belongs to no request.
    """

    def __init__(self, answers: Answers, told: Told | None) -> None:
        self.oddities: Counter[str] = Counter()
        self.notifier = Notifier(told, self.oddities) if told is not None else None
        self._answers = answers
        self._running: dict[int, Call] = {}
        self._given_up: dict[int, float] = {}
        self._questions: dict[Any, asyncio.Task[None]] = {}
        self._asked_for: dict[Any, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, call: Call) -> None:
        """A request is about to be sent."""
        self._running[call.id] = call

    def end(self, call: Call, *, given_up: bool) -> None:
        """A request has ended; its open questions end with it.

        Args:
            call: the request.
            given_up: whether the server may not know yet.
        """
        self._running.pop(call.id, None)
        call.end()
        if given_up:
            self._given_up[call.id] = asyncio.get_running_loop().time() + FORGOTTEN_AFTER_S
        for question, of in list(self._asked_for.items()):
            if of == call.id:
                self._questions[question].cancel()

    def of_id(self, request_id: Any) -> Call | None:
        """The running call with an id."""
        return self._running.get(request_id) if isinstance(request_id, int) else None

    def of_message(self, message: Message) -> Call | None:
        """The call that a message belongs to that came on a channel which all calls share."""
        if "method" not in message:
            return self.of_id(message.get("id"))
        params = _params(message)
        meta = params.get("_meta")
        if isinstance(meta, dict) and SUBSCRIPTION_ID in meta:
            return self._of_text(meta[SUBSCRIPTION_ID])
        if message["method"] == "notifications/progress":
            return self.of_id(params.get("progressToken"))
        if "id" in message or message["method"] == "notifications/message":
            return self._only()
        return None

    def _of_text(self, value: Any) -> Call | None:
        """The spec calls a subscription's id a string, whatever the request's id was."""
        return self.of_id(int(value) if isinstance(value, str) and value.isdecimal() else value)

    def _only(self) -> Call | None:
        """The call that an unattributed question can belong to: the only one there is.

        With another one running, or given up a moment ago, the wrong person might be asked.
        """
        now = asyncio.get_running_loop().time()
        self._given_up = {each: end for each, end in self._given_up.items() if end > now}
        calls = [each for each in self._running.values() if not each.stands]
        return calls[0] if len(calls) == 1 and not self._given_up else None

    async def hear(self, message: Message, call: Call | None) -> None:
        """Take what a server says: for a call, or for nobody in particular.

        Progress and logs wait until the caller has taken them, so that a slow one is not flooded.

        Args:
            message: a notification, a question, or a response that nobody waits for.
            call: on whose channel it came.
        """
        method = message.get("method")
        if not isinstance(method, str):
            self.oddities["response to no request"] += 1
        elif "id" in message:
            self._question(message, method, call)
        elif method == "notifications/cancelled":
            self._withdrawn(_params(message).get("requestId"))
        elif method == "notifications/progress":
            await self._progress(_params(message), call)
        elif method == "notifications/message" and call is not None and call.back is not None:
            params = _params(message)
            level, logger = params.get("level"), params.get("logger")
            text = level if isinstance(level, str) else "info"
            name = logger if isinstance(logger, str) else None
            await call.back.log(text, params.get("data"), name)
        elif self.notifier is not None and not self.notifier.notify(method, _own(_params(message))):
            self.oddities["notification too many"] += 1

    async def _progress(self, params: Mapping[str, Any], call: Call | None) -> None:
        known = self.of_id(params.get("progressToken"))
        done, total, message = (params.get(key) for key in ("progress", "total", "message"))
        if known is None or known.back is None or (call or known) is not known:
            self.oddities["progress of no request"] += 1
        elif (number := _number(done)) is None:
            self.oddities["progress without a number"] += 1
        else:
            text = message if isinstance(message, str) else None
            await known.back.progress(number, _number(total), text)

    def _question(self, message: Message, method: str, call: Call | None) -> None:
        question = message["id"]
        if isinstance(question, bool) or not isinstance(question, str | int):
            self.oddities["question without an id"] += 1
        elif question in self._questions:
            self.oddities["question asked twice"] += 1
        elif method == "ping":
            self._reply(answer(question, {}))
        elif call is None or call.back is None:
            self.oddities["question of no request"] += 1
            error = RpcError(METHOD_NOT_FOUND, f"Nobody is here who could answer {method}.")
            self._reply(refusal(question, error))
        else:
            asking = self._ask(question, method, _params(message), call, call.back)
            self._asked_for[question] = call.id
            task = self._questions[question] = self._start(asking)
            task.add_done_callback(lambda _: self._forget(question))

    def _forget(self, question: Any) -> None:
        self._questions.pop(question, None)
        self._asked_for.pop(question, None)

    def _withdrawn(self, question: Any) -> None:
        if isinstance(question, str | int) and question in self._questions:
            self._questions[question].cancel()

    async def _ask(
        self, question: Any, method: str, params: Mapping[str, Any], call: Call, back: Back
    ) -> None:
        call.stop_clock()
        try:
            message = answer(question, await back.ask(method, params))
        except RpcError as error:
            message = refusal(question, error)
        except Exception:
            self.oddities["question that could not be answered"] += 1
            message = refusal(question, RpcError(INTERNAL_ERROR, "The client failed to answer."))
        finally:
            call.start_clock()
        await self._send(message)

    def _reply(self, message: Message) -> None:
        if len(self._tasks) >= MAX_OPEN:
            self.oddities["question too many"] += 1
        else:
            self._start(self._send(message))

    async def _send(self, message: Message) -> None:
        try:
            await self._answers.send(message)
        except WireError:
            self.oddities["answer that was not taken"] += 1

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End every open question."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


def _params(message: Message) -> Mapping[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _own(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Parameters without what belongs to this hop alone."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or SUBSCRIPTION_ID not in meta:
        return params
    kept = {key: value for key, value in meta.items() if key != SUBSCRIPTION_ID}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return {**rest, "_meta": kept} if kept else rest


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
