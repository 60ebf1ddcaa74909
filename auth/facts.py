"""Facts about people that others know: roles on a chain, membership on GitHub, a score.

A rule asks questions, and sources answer them in batches. Answers are cached for a limited time.
One that is in use is refreshed in the background before it expires, and none is used after it has
expired: a fact that no source confirms is unknown, and what is unknown grants nothing. When an
event says that an answer may have changed, it is dropped; an answer whose changes no event
reports is refreshed sooner.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

FACT_CACHE_SIZE = 4096
"""Answers that one process caches, least recently used first out: 0.6 KiB each, 2.5 MiB in all."""
REFRESH_AHEAD_SHARE = 0.8
"""The share of its lifetime after which an answer that is in use is refreshed."""
UNWATCHED_MAX_AGE_S = 20.0
"""Age in seconds from which an answer whose changes no event reports is asked for anew."""
SOURCE_RETRY_INTERVAL_S = 5.0
"""Seconds for which a source that failed is not asked again."""
SOURCE_TIMEOUT_S = 10.0
"""Seconds that a source has to answer."""

_STOPPING = "the portal is stopping"


@dataclass(frozen=True, slots=True)
class Question:
    """One question to one source.

    Attributes:
        source: the source's name, such as ``hats`` or ``github``.
        key: what is asked, such as ``("wears", address, hat_id)``.
    """

    source: str
    key: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source said.

    Attributes:
        value: the fact, or None where it is unknown.
        at: when it was asked, in seconds since the epoch.
        problem: why the fact is unknown, for people; None where it is known.
    """

    value: Any
    at: float
    problem: str | None = None


class SourceUnavailable(Exception):
    """A source does not answer; the message says which and why, and holds no secret."""


class Source(Protocol):
    """One place that knows facts. Its calls have a time limit of their own."""

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, Any]:
        """Answer questions of this source, as few round trips as it takes.

        Returns:
            The facts; a question that is left out stays unknown.

        Raises:
            SourceUnavailable: the source does not answer at all.
        """
        ...


_Asked = Mapping[Question, asyncio.Future[Answer]]


@dataclass(slots=True)
class _Kept:
    """A cached answer, with moments of the monotonic clock in seconds.

    Attributes:
        answer: the answer.
        again: from when on it is refreshed in the background once someone asks for it.
        until: when it expires.
        soon: from when on it is asked for anew if no event would report a change.
    """

    answer: Answer
    again: float
    until: float
    soon: float


class Facts:
    """Answers questions, and caches the answers.

    Questions that arrive in one turn of the event loop go to each source as one batch. An answer
    that is used after four fifths of its lifetime is refreshed in the background. After a source
    fails it is not asked for :data:`SOURCE_RETRY_INTERVAL_S`, and its questions are answered as
    unknown without waiting.

    Args:
        sources: by their names.
        believed: an answer's lifetime in seconds, counted from when it was asked for.
        clock: seconds that only grow; replaced in tests.
        wall: seconds since the epoch; replaced in tests.
        limit: seconds that a source has to answer.
        unwatched: whether no event (:meth:`forget`) reports changes of a question's answer just
            now. Such an answer is asked for anew once it is :data:`UNWATCHED_MAX_AGE_S` old; if
            its source is silent then, the old one is used until it expires.
        failed: called with a source's name and the error when a source breaks its contract.
    """

    def __init__(
        self,
        sources: Mapping[str, Source],
        believed: float = 300.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        limit: float = SOURCE_TIMEOUT_S,
        unwatched: Callable[[Question], bool] = lambda question: False,
        failed: Callable[[str, Exception], None] = lambda source, error: None,
    ) -> None:
        self._sources = dict(sources)
        self._believed = believed
        self._clock = clock
        self._wall = wall
        self._limit = limit
        self._unwatched = unwatched
        self._failed = failed
        self._kept: OrderedDict[Question, _Kept] = OrderedDict()
        self._asked: dict[Question, asyncio.Future[Answer]] = {}
        self._batches: dict[str, list[Question]] = {}
        self._down: dict[str, tuple[float, str]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def fresh(self, questions: Iterable[Question]) -> tuple[Answer, ...] | None:
        """The cached answers, or None if one is missing; due ones are refreshed on the side."""
        found = []
        for question in questions:
            answer = self._remembered(question)
            if answer is None:
                return None
            found.append(answer)
        return tuple(found)

    async def answers(self, questions: Iterable[Question]) -> Mapping[Question, Answer]:
        """Answer questions, from the cache as far as possible.

        Returns:
            An answer to each; its value is None where the fact is unknown.
        """
        found: dict[Question, Answer] = {}
        waiting: dict[Question, asyncio.Future[Answer]] = {}
        for question in questions:
            answer = self._remembered(question)
            if answer is not None:
                found[question] = answer
            else:
                waiting[question] = self._ask(question)
        if waiting:
            # Not the futures themselves: who gives up waiting must not take it from the others.
            await asyncio.wait(set(waiting.values()))
            found.update({question: asked.result() for question, asked in waiting.items()})
        return found

    def forget(self, concerned: Callable[[Question], bool]) -> None:
        """Drop the answers that may have changed; the next use asks anew.

        Answers that are on their way are not cached either: they may be older than the change.

        Args:
            concerned: says whether the answer to a question may have changed.
        """
        for question in [each for each in self._kept if concerned(each)]:
            del self._kept[question]
        unsent = {question for batch in self._batches.values() for question in batch}
        for question in [each for each in self._asked if each not in unsent and concerned(each)]:
            del self._asked[question]

    @property
    def silent(self) -> Mapping[str, str]:
        """The sources that did not answer when they were last asked, and why."""
        return {name: problem for name, (_, problem) in self._down.items()}

    async def close(self) -> None:
        """Stop asking; whoever still waits gets an unknown answer."""
        self._closed = True
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)
        self._missed(dict(self._asked), _STOPPING, 0.0)

    def _remembered(self, question: Question) -> Answer | None:
        kept = self._kept.get(question)
        if kept is None:
            return None
        now = self._clock()
        if now >= kept.again and question not in self._asked:
            self._ask(question)
        if now >= kept.soon and kept.answer.value is not None and self._unwatched(question):
            return None
        if now >= kept.until and (kept.answer.value is not None or self._is_old(kept, now)):
            return None
        self._kept.move_to_end(question)
        return kept.answer

    def _is_old(self, kept: _Kept, now: float) -> bool:
        """Whether an unknown answer expired so long ago that asking anew is worth the wait."""
        return now >= kept.until + self._limit

    def _ask(self, question: Question) -> asyncio.Future[Answer]:
        """Put a question into the next batch for its source, unless it is on its way."""
        asked = self._asked.get(question)
        if asked is not None:
            return asked
        loop = asyncio.get_running_loop()
        asked = self._asked[question] = loop.create_future()
        batch = self._batches.get(question.source)
        if batch is None:
            batch = self._batches[question.source] = []
            loop.call_soon(self._send, question.source)
        batch.append(question)
        return asked

    def _send(self, name: str) -> None:
        asked = {question: self._asked[question] for question in self._batches.pop(name)}
        until, problem = self._refusal(name)
        if problem:
            self._missed(asked, problem, until)
            return
        task = asyncio.create_task(self._fetch(name, asked))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _refusal(self, name: str) -> tuple[float, str]:
        """Until when a source must not be asked, and why; an empty reason if it may be."""
        if self._closed:
            return 0.0, _STOPPING
        if name not in self._sources:
            return (
                self._clock() + SOURCE_RETRY_INTERVAL_S,
                f"the portal is not set up to ask {name}",
            )
        until, problem = self._down.get(name, (0.0, ""))
        return (until, problem) if self._clock() < until else (0.0, "")

    async def _fetch(self, name: str, asked: _Asked) -> None:
        begun, at = self._clock(), self._wall()
        broken: Exception | None = None
        try:
            async with asyncio.timeout(self._limit):
                said = dict(await self._sources[name].answers(list(asked)))
        except SourceUnavailable as error:
            problem = str(error)
        except TimeoutError:
            problem = f"{name} did not answer within {self._limit:g} seconds"
        except asyncio.CancelledError:
            self._left(name, asked, _STOPPING if self._closed else f"{name} was interrupted")
            raise
        except Exception as error:
            problem, broken = f"{name} could not be asked", error
        else:
            self._down.pop(name, None)
            for question, waiting in asked.items():
                self._heard(question, waiting, Answer(said.get(question), at), begun)
            return
        self._left(name, asked, problem)
        if broken is not None:
            self._failed(name, broken)

    def _left(self, name: str, asked: _Asked, problem: str) -> None:
        """Pause a source that failed, and answer its questions as unknown."""
        until = self._clock() + SOURCE_RETRY_INTERVAL_S
        self._down[name] = until, problem
        self._missed(asked, problem, until)

    def _missed(self, asked: _Asked, problem: str, until: float) -> None:
        for question, waiting in asked.items():
            self._settle(question, waiting, _Kept(self._unknown(problem), until, until, until))

    def _heard(
        self, question: Question, waiting: asyncio.Future[Answer], answer: Answer, begun: float
    ) -> None:
        if answer.value is None:
            problem = f"{question.source} did not say"
            self._missed({question: waiting}, problem, self._clock() + SOURCE_RETRY_INTERVAL_S)
        else:
            again, until = begun + REFRESH_AHEAD_SHARE * self._believed, begun + self._believed
            self._settle(
                question, waiting, _Kept(answer, again, until, begun + UNWATCHED_MAX_AGE_S)
            )

    def _settle(self, question: Question, waiting: asyncio.Future[Answer], new: _Kept) -> None:
        """Hand an answer to those who wait for it, and cache it unless it was dropped meanwhile."""
        current = self._asked.get(question) is waiting
        kept = self._kept.get(question) if current else None
        if (
            kept is not None
            and kept.answer.value is not None
            and new.answer.value is None
            and self._clock() < kept.until
        ):
            # A refresh in vain: the old answer is used until it expires, not longer.
            kept.again, kept.soon = new.until, self._clock() + UNWATCHED_MAX_AGE_S
            new = kept
        if not waiting.done():
            waiting.set_result(new.answer)
        if not current:
            return
        del self._asked[question]
        self._kept[question] = new
        self._kept.move_to_end(question)
        while len(self._kept) > FACT_CACHE_SIZE:
            self._kept.popitem(last=False)

    def _unknown(self, problem: str) -> Answer:
        return Answer(None, self._wall(), problem)
