"""What a client may offer while a person types: types, groups, releases, terms and titles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gateway.contract import Caller, Tier
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.notes.content_types import ContentType, matching
from plugins.knowledge.retrieval.markup import one_line


class Completions:
    """Completers over a knowledge base; each offers only what the caller may see.

    Args:
        knowledge: the knowledge base.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    async def content_types(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The content types that have documents."""
        present = {entry.content_type for entry in self._knowledge.store.entries(caller.tier)}
        return _best(typed, (str(one) for one in ContentType if one in present))

    async def ids(self, typed: str, others: Mapping[str, str], caller: Caller) -> list[str]:
        """The ids of documents, of the content type that is already given."""
        given = others.get("contentType")
        entries = self._knowledge.store.entries(caller.tier)
        return _best(typed, (one.id for one in entries if given in (None, str(one.content_type))))

    async def groups(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The values of the group filter."""
        return _best(typed, (one.group for one in self._knowledge.groups(caller.tier).groups))

    async def releases(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The values of the release filter."""
        found = self._knowledge.releases(caller.tier).releases
        return _best(typed, (one.release for one in found))

    async def terms(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The terms of the lexicon."""
        return _best(typed, self._knowledge.lexicon.titles(caller.tier))

    async def topics(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The titles of all documents, terms first."""
        everything = self._titles(caller.tier, tuple(ContentType))
        return _best(typed, (*self._knowledge.lexicon.titles(caller.tier), *everything))

    async def patterns(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The titles of patterns."""
        return _best(typed, self._titles(caller.tier, (ContentType.PATTERN,)))

    async def practices(self, typed: str, _: Mapping[str, str], caller: Caller) -> list[str]:
        """The titles of practices, then of everything else that can be commoned."""
        practices = self._titles(caller.tier, (ContentType.PRACTICE,))
        others = self._titles(caller.tier, matching(ContentType.RESOURCE))
        return _best(typed, (*practices, *others))

    def _titles(self, up_to: Tier, types: tuple[ContentType, ...]) -> Iterable[str]:
        entries = self._knowledge.store.entries(up_to)
        return (one_line(entry.title) for entry in entries if entry.content_type in types)


def _best(typed: str, values: Iterable[str]) -> list[str]:
    """The values that begin with what was typed, then those that hold it, none twice."""
    sought = typed.strip().lower()
    tests: tuple[Callable[[str], bool], ...] = (
        lambda value: value.startswith(sought),
        lambda value: not value.startswith(sought) and sought in value,
    )
    unique = list(dict.fromkeys(values))
    return [value for test in tests for value in unique if test(value.lower())]
