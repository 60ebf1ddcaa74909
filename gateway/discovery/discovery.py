"""What a client is told of tools, and how its model finds those that it was not told of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import CALL_TOOL, FIND_TOOLS, Item, Verbatim
from gateway.config.portal import Portal
from gateway.config.tools import Mode
from gateway.contract import Embedder
from gateway.contract.suggestions import near
from gateway.discovery.client_table import ClientTable
from gateway.discovery.cost import Costs, tokens_of
from gateway.discovery.favourites import Favourites, unknown_favourites
from gateway.discovery.listed_tools import ListedTools
from gateway.discovery.meanings import Meanings
from gateway.discovery.own_tools import FindArguments, call_item, find_description, find_item
from gateway.discovery.ranking import Ranking, Words, in_full, spoken, words_of
from gateway.errors import NotFound
from gateway.toolkit.words import words

if TYPE_CHECKING:
    from gateway.contract import Database

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""The key of ``_meta`` by which a tool is not deferred by a client that defers tools itself."""
_NEAREST = 3

Entry = Mapping[str, Any]


class ModeCosts(NamedTuple):
    """What tools cost a caller, in tokens.

    Attributes:
        tools: each tool's, the dearest first.
        modes: what a list costs in each mode; a deferring client loads the rest on demand.
        budget: up to where the whole list is shown to every client.
    """

    tools: list[tuple[str, int]]
    modes: dict[Mode, int]
    budget: int


class Discovery:
    """Fits lists of tools to clients.

    Args:
        portal: the configuration.
        catalog: what there is, and for whom.
        database: where the audit log is, which knows what is used.
        embedder: the portal's model, or None where it has none.

    Attributes:
        clients: says how a client is told of many tools.
    """

    def __init__(
        self, portal: Portal, catalog: Catalog, database: Database, embedder: Embedder | None
    ) -> None:
        settings = portal.config.tools
        self.clients = ClientTable(settings.clients)
        self._portal = portal
        self._catalog = catalog
        self._tools = ListedTools(catalog)
        self._budget = settings.budget
        self._favourites = Favourites(settings.favourites, database)
        self._meanings = Meanings(embedder)
        self._costs = Costs()
        self._call = call_item()
        self._finders: dict[str | None, Item] = {}
        self._said: dict[str, tuple[object, Words]] = {}
        self._rankings: dict[tuple[Any, ...], Ranking] = {}
        self._ranked_version = -1
        self._is_over = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Learn what tools mean for as long as the block lasts, once that is asked for."""
        async with self._meanings.running():
            yield

    def notices(self) -> list[str]:
        """What an admin should look at: favourites that are none of the portal's tools."""
        names = {item.name for item in self._catalog.items() if item.kind == "tool"}
        return [str(each) for each in unknown_favourites(self._portal, names)]

    # What a client is told.

    @property
    def version(self) -> tuple[int, int]:
        """Changes where a list may be another one."""
        return self._catalog.version, self._favourites.version

    async def refresh(self) -> None:
        """Look once a day which tools are used most, where any list is over the budget."""
        if self._is_over:
            await self._favourites.refresh()

    async def shown(self, caller: Caller, only: str | None, mode: Mode) -> Sequence[Entry]:
        """The list of tools for a caller's client, as a list shows them.

        Args:
            caller: whose list it is.
            only: a plugin's name, where the endpoint serves one plugin alone.
            mode: how the client is told of more than the budget.
        """
        items = self._tools.of(caller, only)
        if mode == "full" or self._costs.total(items) <= self._budget:
            return [item.entry for item in items]
        self._is_over = True
        await self._favourites.refresh()
        if mode == "deferred":
            return self._deferred(items)
        self._meanings.of((await self._ranking(caller, only)).texts)  # so that they will be there
        return self._searched(items)

    async def costs(self, caller: Caller) -> ModeCosts:
        """What the tools that a caller may use cost, in each mode."""
        await self._favourites.refresh()
        items = self._tools.of(caller)
        each = sorted(((item.name, self._costs.of(item)) for item in items), key=_dearest)
        marked = [entry for entry in self._deferred(items) if ALWAYS_LOAD in entry.get("_meta", {})]
        modes: dict[Mode, int] = {
            "full": self._costs.total(items),
            "deferred": sum(map(tokens_of, marked)),
            "search": sum(map(tokens_of, self._searched(items))),
        }
        return ModeCosts(each, modes, self._budget)

    def _deferred(self, items: Sequence[Item]) -> list[Entry]:
        favourites = self._favourites.among(items, self._costs, self._budget)
        keys = {item.key for item in favourites}
        return [_loaded(item.entry) if item.key in keys else item.entry for item in items]

    def _searched(self, items: Sequence[Item]) -> list[Entry]:
        call = self._call.entry
        room = self._budget - tokens_of(call) - tokens_of(self._find_entry(items, 0))
        favourites = self._favourites.among(items, self._costs, room)
        find = self._find_entry(items, len(favourites))
        return [find, call, *(item.entry for item in favourites)]

    def _find_entry(self, items: Sequence[Item], listed: int) -> Entry:
        return find_item(self._find, find_description(items, listed)).entry

    # What a model calls.

    def tool(self, name: str, caller: Caller, only: str | None = None) -> Item:
        """The tool of that name, one of the portal's own two among them.

        Arguments and errors as in :meth:`Catalog.tool`.
        """
        if name == CALL_TOOL:
            return self._call
        if name != FIND_TOOLS:
            return self._catalog.tool(name, caller, only)
        if only not in self._finders:
            self._finders[only] = find_item(partial(self._find, only=only))
        return self._finders[only]

    def inner_tool(self, name: str, caller: Caller, only: str | None = None) -> Item:
        """The same for a name that a model gave to ``call_tool``; a wrong one is helped along.

        Raises:
            NotFound: there is no such tool for this caller; names the nearest.
            NotAllowed: the caller's tier is below the tool's.
        """
        try:
            return self.tool(name, caller, only)
        except NotFound:
            there = [item.name for item in self._catalog.listed("tool", caller, only)]
            found = near(name, there, _NEAREST) or _alike(name, there)
        nearest = f" Near it: {', '.join(found)}." if found else ""
        raise NotFound(
            f"Unknown tool: {name[:100]}.{nearest} {FIND_TOOLS} finds the others.",
            {"name": name[:100], "near": found},
        )

    async def find(
        self, query: str, limit: int, caller: Caller, only: str | None = None
    ) -> tuple[list[Item], bool]:
        """The tools that fit a question, of those that a caller may use.

        Args:
            query: what the caller wants to do.
            limit: how many at most.
            caller: who asks.
            only: a plugin's name, where the endpoint serves one plugin alone.

        Returns:
            The tools, the best first; and whether their meaning counted, or their words alone.
        """
        ranking = await self._ranking(caller, only)
        if not ranking.knows_meaning and (vectors := self._meanings.of(ranking.texts)):
            ranking.learn(vectors)
        knows = ranking.knows_meaning
        vector = await self._meanings.question(in_full(query)) if knows else None
        return ranking.best(query, limit, vector), vector is not None

    async def _find(
        self, args: FindArguments, caller: Caller, only: str | None = None
    ) -> Mapping[str, Any]:
        found, by_meaning = await self.find(args.query, args.limit, caller, only)
        answer: dict[str, Any] = {
            "tools": [_summary(item.entry) for item in found],
            "searched_by": "words and meaning" if by_meaning else "words",
        }
        if not found:
            answer["note"] = "Nothing fits. Ask in other words, such as what the thing is called."
        return answer

    async def _ranking(self, caller: Caller, only: str | None) -> Ranking:
        self._forget_the_old()
        key = (caller.tier, only) if caller.tools is None else None
        if key is not None and (known := self._rankings.get(key)):
            return known
        version, items = self._catalog.version, self._tools.of(caller, only)
        ranking = await asyncio.to_thread(self._rank, items)  # hundreds of schemas are read
        if key is not None and version == self._catalog.version:
            self._rankings[key] = ranking
        return ranking

    def _forget_the_old(self) -> None:
        if self._ranked_version == self._catalog.version:
            return
        self._rankings.clear()
        there = {item.key for item in self._catalog.items()}
        self._said = {key: said for key, said in self._said.items() if key in there}
        self._ranked_version = self._catalog.version

    def _rank(self, items: Sequence[Item]) -> Ranking:
        return Ranking(items, [self._words(item) for item in items])

    def _words(self, item: Item) -> Words:
        known = self._said.get(item.key)
        if known is None or known[0] is not item.entry:
            known = self._said[item.key] = item.entry, words_of(item)
        return known[1]


def _loaded(entry: Entry) -> Entry:
    """A tool that its client does not defer."""
    meta = {**entry.get("_meta", {}), ALWAYS_LOAD: True}
    kind = Verbatim if isinstance(entry, Verbatim) else dict
    return kind(entry, _meta=meta)


def _summary(entry: Entry) -> Entry:
    """A tool as a search shows it: what a model needs to call it."""
    return {key: entry[key] for key in ("name", "description", "inputSchema") if key in entry}


def _alike(name: str, there: Sequence[str]) -> list[str]:
    """The names that have most words of another one."""
    asked = set(words(spoken(name)))
    shared = {each: len(asked & set(words(spoken(each)))) for each in there}
    alike = [each for each in there if shared[each]]
    return sorted(alike, key=lambda each: (-shared[each], each))[:_NEAREST]


def _dearest(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]
