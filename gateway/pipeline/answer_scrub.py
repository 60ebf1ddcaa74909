"""The last line before an answer leaves: what a plugin took in before anybody looked, or was handed
on from elsewhere, goes out without its secrets, whatever the plugin and the surface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from gateway.catalog.items import Item
from gateway.contract import Relayed, ToolFailed
from gateway.observability.logs import get_logger
from gateway.scrubbing.contents import ContentScrub, each_text_of, few_texts_of
from gateway.scrubbing.scrubber import Redaction
from gateway.toolkit.time_slices import in_turns

LONG_ANSWER_CHARACTERS = 100_000
"""Characters of an answer from which on looking for secrets would hold up other calls: 2 ms."""
_TURN_CHARACTERS = 32 * 1024
"""The size of what is looked at between two turns of others."""
_BATCH_CHARACTERS = 256 * 1024
"""Characters that are looked through at once, which takes a millisecond."""
_LAP_CHARACTERS = 64 * 1024
"""Characters than which no secret within one line is longer."""
_MAX_REPORTS = 200
_MAX_KINDS = 5

log = get_logger(__name__)


Check = Callable[[Item, int], None]
"""Called with an item and the size of its answer in characters."""


def _any_size(item: Item, size: int) -> None:
    return None


class Looked(NamedTuple):
    """An answer that was looked through.

    Attributes:
        value: it, without its secrets.
        found: what was taken out.
        is_long: whether writing it would hold up other calls too.
    """

    value: Any
    found: Sequence[Redaction]
    is_long: bool


class AnswerScrub:
    """Looks through answers, and remembers which items have answered with secrets.

    Args:
        allow: names of rules that are not applied.
        as_is: plugins, and sources of plugins, whose contents are left as they are.
        enabled: whether anything is taken out.
    """

    def __init__(
        self, allow: tuple[str, ...] = (), as_is: tuple[str, ...] = (), *, enabled: bool = True
    ) -> None:
        self._allow, self._as_is, self._enabled = allow, as_is, enabled
        self._scrubs: dict[str, ContentScrub | None] = {}
        self._reported: dict[tuple[str, str], None] = {}
        self._long = asyncio.Lock()

    async def answer(self, item: Item, value: Any, check: Check = _any_size) -> Looked:
        """An answer without its secrets; a long one is looked through in turns with others.

        Args:
            item: what has answered.
            value: its answer.
            check: called with the size of a long one before that; raises where it is too long.
        """
        if isinstance(value, Relayed):
            result, found, is_long = await self.answer(item, value.result, check)
            return Looked(Relayed(result) if found else value, found, is_long)
        scrub = self._of(item.plugin)
        if (texts := few_texts_of(value, LONG_ANSWER_CHARACTERS)) is None:
            async with self._long:
                cleaned, found = await _looked_through(item, value, check, scrub)
        elif scrub is None:
            return Looked(value, (), False)
        else:
            cleaned, found = scrub.value(value, texts)
        if found:
            self._report(item, found)
        return Looked(cleaned, found, texts is None)

    def failure(self, item: Item, failed: ToolFailed) -> None:
        """Take the secrets out of an error that is about to be told."""
        if scrub := self._of(item.plugin):
            answer = {"message": failed.message, "details": failed.details}
            cleaned, found = scrub.value(answer)
            failed.message, failed.details = cleaned["message"], cleaned["details"]
            self._report(item, found)

    def notices(self) -> Iterable[str]:
        """What an admin should look at: which items answered with secrets, and of which kinds."""
        items: dict[str, list[str]] = {}
        for key, kind in self._reported:
            items.setdefault(key, []).append(kind)
        for key, kinds in items.items():
            more = f" and {len(kinds) - _MAX_KINDS} more kinds" if len(kinds) > _MAX_KINDS else ""
            yield (
                f"{key} answered with secrets, which were taken out: "
                f"{', '.join(kinds[:_MAX_KINDS])}{more}. Find them where its contents "
                "come from, and have them replaced."
            )

    def _of(self, plugin: str) -> ContentScrub | None:
        """What looks through a plugin's answers; None where they are left as they are."""
        if plugin not in self._scrubs:
            scrub = ContentScrub(plugin, self._enabled, self._allow, self._as_is)
            self._scrubs[plugin] = scrub if scrub.at_answers() else None
        return self._scrubs[plugin]

    def _report(self, item: Item, found: Sequence[Redaction]) -> None:
        for each in found:
            key = (item.key, each.kind)
            if key not in self._reported and len(self._reported) < _MAX_REPORTS:
                self._reported[key] = None
                place = {"at": each.argument, "line": each.line}
                log.warning("secret_in_answer", item=item.key, kind=each.kind, **place)


async def _looked_through(
    item: Item, value: Any, check: Check, scrub: ContentScrub | None
) -> tuple[Any, Sequence[Redaction]]:
    """A long answer without its secrets, in turns with others."""
    some = await in_turns(each_text_of(value, _TURN_CHARACTERS))
    check(item, sum(size for _, size in some))
    if scrub is None:
        return value, ()
    texts = chain.from_iterable(texts for texts, _ in some)
    for batch in _batches(texts):  # the automaton works beside the loop, without its lock
        if await asyncio.to_thread(scrub.may_hold, batch):
            return await asyncio.to_thread(scrub.value, value)
    return value, ()


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """The same texts, some at a time; a long one in parts."""
    batch, size = list[str](), 0
    for part in chain.from_iterable(map(_parts, texts)):
        batch.append(part)
        size += len(part)
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    yield batch


def _parts(text: str) -> Iterator[str]:
    """A text in parts that end with a line; those of a long line lap over one another."""
    start = 0
    while len(text) - start > 2 * _BATCH_CHARACTERS:
        stop = start + _BATCH_CHARACTERS
        end = text.find("\n", stop, stop + _BATCH_CHARACTERS) + 1
        yield text[start : end or stop]
        start = end or stop - _LAP_CHARACTERS
    yield text[start:] if start else text
