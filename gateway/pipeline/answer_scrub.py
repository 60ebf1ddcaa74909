"""The last line before an answer leaves: what a plugin took in before anybody looked, or was handed
on from elsewhere, goes out without its secrets, whatever the plugin and the surface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gateway.catalog.items import Item
from gateway.contract import ToolFailed
from gateway.observability.logs import get_logger
from gateway.scrubbing.contents import ContentScrub, few_texts_of
from gateway.scrubbing.scrubber import Redaction

LONG_ANSWER_CHARACTERS = 100_000
"""Characters of an answer from which on looking for secrets would hold up other calls: 2 ms."""
_MAX_REPORTS = 200
_MAX_KINDS = 5

log = get_logger(__name__)


def _any_size(item: Item, value: Any) -> None:
    return None


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

    async def answer(
        self, item: Item, value: Any, check: Callable[[Item, Any], None] = _any_size
    ) -> tuple[Any, Sequence[Redaction]]:
        """An answer without its secrets; a long one is looked through beside the event loop.

        Args:
            item: what has answered.
            value: its answer.
            check: called before a long one is looked through; raises where it is too long.
        """
        scrub = self._of(item.plugin)
        if scrub is None or isinstance(value, bytes):
            check(item, value)
        if scrub is None:
            return value, ()
        if (texts := few_texts_of(value, LONG_ANSWER_CHARACTERS)) is None:
            check(item, value)
            cleaned, found = await asyncio.to_thread(scrub.value, value)
        else:
            cleaned, found = scrub.value(value, texts)
        self._report(item, found)
        return cleaned, found

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
