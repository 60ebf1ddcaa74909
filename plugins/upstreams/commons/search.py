"""One question to all sources at once, each with its own time, and who did not answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.contract import Exchange, ToolFailed
from plugins.upstreams.commons.hits import Hit, hits_of
from plugins.upstreams.commons.sources import Source

MAX_REASON_CHARACTERS = 300
"""Characters of a server's own words about why it failed."""
_WORDS = {"server_down": "down", "server_failed": "failed", "upstream_error": "failed"}
"""What a failure is called here, where why_missing has a word for it."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A source that has not answered.

    Attributes:
        name: the source's.
        why: in a word: ``deadline``, ``down``, ``not_allowed``, ``connection_needed`` ...
        reason: in a sentence.
        link: where the caller can do something about it, or nothing.
    """

    name: str
    why: str
    reason: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a question has come to.

    Attributes:
        answered: the sources that have answered, and what they have found, in the sources' order.
        unanswered: those that have not, of those that the caller may know of.
    """

    answered: Sequence[tuple[Source, Sequence[Hit]]]
    unanswered: Sequence[Unanswered]


async def search_all(
    exchange: Exchange,
    sources: Iterable[Source],
    without: Mapping[str, str],
    question: str,
    seconds: float,
) -> Answers:
    """Ask all sources at once, as the caller of a call.

    Args:
        exchange: the call's: each question is a call of the source's own tool.
        sources: whom to ask.
        without: servers that have no search tool now, and the keys of all that they have.
        question: what is looked for.
        seconds: how long each may take.
    """
    asked = [_ask(exchange, each, question, seconds) for each in sources]
    absent = [_absent(exchange, name, {whole}) for name, whole in without.items()]
    answers = await asyncio.gather(*asked, *absent)
    return Answers(
        [each for each in answers if isinstance(each, tuple)],
        [each for each in answers if isinstance(each, Unanswered)],
    )


async def _ask(
    exchange: Exchange, source: Source, question: str, seconds: float
) -> tuple[Source, Sequence[Hit]] | Unanswered | None:
    """What a source has found; None where the caller may not know of it."""
    try:
        async with asyncio.timeout(seconds):
            result = await exchange.call(source.key, {source.argument: question})
    except TimeoutError:
        return Unanswered(source.name, "deadline", f"It has not answered within {seconds:g} s.")
    except ToolFailed as failed:
        if failed.code == "not_found":
            return await _absent(exchange, source.name, {source.key, source.whole})
        why, link = _WORDS.get(failed.code, failed.code), str(failed.details.get("url") or "")
        return Unanswered(source.name, why, failed.message[:MAX_REASON_CHARACTERS], link)
    if result.get("isError"):
        return Unanswered(source.name, "failed", _words_of(result))
    return source, hits_of(result)


def _words_of(result: Mapping[str, Any]) -> str:
    texts = (each.get("text") for each in result.get("content") or () if isinstance(each, Mapping))
    said = next((each for each in texts if isinstance(each, str) and each.strip()), "")
    return f"It failed: {said[:MAX_REASON_CHARACTERS] or 'it does not say why.'}"


async def _absent(exchange: Exchange, name: str, keys: Collection[str]) -> Unanswered | None:
    """Why a source cannot be asked, as far as the caller may know of it; None where not."""
    meant = [each for each in await exchange.missing() if each.key in keys]
    if not meant:
        return None
    # What the caller can do something about is told before all else.
    first = next((each for each in meant if each.link), meant[0])
    return Unanswered(name, first.why, first.reason, first.link)
