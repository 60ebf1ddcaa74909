"""What plugins list for one caller: asked for at each list, checked, and never kept.

A lister is a plugin's: what it does wrong costs its own entries, and no one else's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item, listed_resource, prompt_of
from gateway.catalog.schemas import BadDeclaration
from gateway.contract import ListedResource, Prompt, PromptFamily, ResourceTemplate
from gateway.observability.logs import get_logger

LISTER_TIMEOUT_SECONDS = 3.0
"""Seconds that a plugin has for its part of a page."""
_MAX_LOGGED_ENTRIES = 1000
"""Entries that were left out whose reason is remembered, so that it is logged once."""

log = get_logger(__name__)

Entry = Mapping[str, Any]
Lister = Callable[[Caller, str | None, int], Awaitable[Sequence[Any]]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page begins.

    Attributes:
        item: the key of the family or template whose turn it is.
        after: the name or URI that the page before ended with, as the plugin calls it; None at
            the beginning of the item's list.
    """

    item: str
    after: str | None = None


class Listers:
    """Asks plugins what they list for a caller.

    Args:
        catalog: what there is, and for whom.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._failed: dict[str, str] = {}
        self._left_out: dict[tuple[str, str], str] = {}

    def of(self, method: str, caller: Caller, only: str | None) -> list[Item]:
        """The items that list something for a caller themselves, in order."""
        if method == "prompts/list":
            return self._catalog.listed("family", caller, only)
        if method == "resources/list":
            templates = self._catalog.listed("template", caller, only)
            return [item for item in templates if lister_of(item) is not None]
        return []

    def notices(self) -> list[str]:
        """What an admin should look at: whose part of the lists is missing, and why."""
        known = {item.key for item in self._catalog.items()}
        self._failed = {item: why for item, why in self._failed.items() if item in known}
        return [f"{item}: its list cannot be made: {why}" for item, why in self._failed.items()]

    async def page(
        self, items: Sequence[Item], place: Place, room: int, caller: Caller
    ) -> tuple[list[Entry], Place | None]:
        """The entries from a place on.

        Args:
            items: what :meth:`of` gave; the place is at one of them.
            place: where to begin.
            room: the most entries to give.
            caller: whose list it is.

        Returns:
            The entries, and where the next page begins; None where this one is the last.
        """
        entries: list[Entry] = []
        keys = [item.key for item in items]
        after = place.after
        for item in items[keys.index(place.item) :]:
            if room == 0:
                return entries, Place(item.key, after)
            # One more than there is room for tells whether another page follows.
            found = await self._list(item, caller, after, room + 1)
            shown = found[:room]
            entries += self._entries(item, shown)
            room -= len(shown)
            if len(found) > len(shown):
                return entries, Place(item.key, id_of(shown[-1]))
            after = None
        return entries, None

    async def _list(self, item: Item, caller: Caller, after: str | None, limit: int) -> list[Any]:
        lister = lister_of(item)
        if lister is None:
            return []
        try:
            async with asyncio.timeout(LISTER_TIMEOUT_SECONDS) as deadline:
                found = list(await lister(caller, after, limit))[:limit]
            if after in [id_of(each) for each in found]:
                raise ValueError("it lists again what it is to go on after")
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._failure(item, "it awaited something that was cancelled")
        except Exception as error:
            late = isinstance(error, TimeoutError) and deadline.expired()
            why = (
                f"it took longer than {LISTER_TIMEOUT_SECONDS:g} s" if late else _error_text(error)
            )
            return self._failure(item, why, error)
        self._failed.pop(item.key, None)
        return found

    def _failure(self, item: Item, why: str, error: Exception | None = None) -> list[Any]:
        if self._failed.get(item.key) != why:  # and not at each of many lists
            log.error("list_failed", plugin=item.plugin, item=item.key, reason=why, exc_info=error)
            self._failed[item.key] = why
        return []

    def _entries(self, item: Item, found: Sequence[Any]) -> list[Entry]:
        entries: dict[str, Entry] = {}
        for each in found:
            name = id_of(each)
            try:
                entry = _entry(item, each)
                if name in entries or self._is_declared(item, entry):
                    raise BadDeclaration("it is listed already")
                entries[name] = entry
            except Exception as error:
                self._leave_out(item, name, _error_text(error))
        return list(entries.values())

    def _is_declared(self, item: Item, entry: Entry) -> bool:
        if item.kind == "family":
            return self._catalog.holds("prompt", entry["name"])
        return self._catalog.knows(entry["uri"])

    def _leave_out(self, item: Item, name: str, why: str) -> None:
        if self._left_out.get((item.key, name)) == why:
            return
        if len(self._left_out) >= _MAX_LOGGED_ENTRIES:
            self._left_out.clear()
        self._left_out[item.key, name] = why
        log.warning("listed_left_out", plugin=item.plugin, item=item.key, entry=name, reason=why)


def lister_of(item: Item) -> Lister | None:
    """What lists an item's entries for a caller; None where it lists nothing by itself."""
    if isinstance(item.declared, ResourceTemplate | PromptFamily):
        return item.declared.listed
    return None


def id_of(found: Prompt | ListedResource) -> str:
    """What tells one entry from another, in the plugin's own words."""
    name = found.name if isinstance(found, Prompt) else found.uri
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no text")
    return name


def _error_text(error: Exception) -> str:
    known = isinstance(error, BadDeclaration)
    return f"{error}" if known else f"{type(error).__name__}: {error}"


def _entry(item: Item, found: Prompt | ListedResource) -> Entry:
    if isinstance(found, Prompt):
        return prompt_of(item, found).entry
    return listed_resource(item, found)
