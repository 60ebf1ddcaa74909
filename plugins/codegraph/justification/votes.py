"""What speaks for each class of an entity: one small rule each, with its evidence.

A rule gives a weight and says what it saw. The class with the most weight is said; how sure it is
follows from the weights (``classify.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.domain import Domain
from plugins.codegraph.justification.entry_points import Entry
from plugins.codegraph.justification.imports import Binding
from plugins.codegraph.justification.places import Place, Places
from plugins.codegraph.justification.taxonomy import EntityClass, EntryKind
from plugins.codegraph.justification.words import HELPING, PLAIN_BASES, words
from plugins.codegraph.model import Entity, EntityKind

V, H, U = EntityClass.VERTICAL, EntityClass.HORIZONTAL, EntityClass.UTILITY
GUARDS = frozenset(
    {
        *("current_user", "login_required", "permission_required", "gettext", "_", "_l", "t"),
        *("lazy_gettext", "url_for", "request", "g", "useTranslation", "get_logger", "getLogger"),
    }
)
"""Imported names that code of any feature uses: they say nothing of the code around."""
_ERRORS = ("Error", "Exception", "Warning")
_CONTAINERS = (EntityKind.CLASS, EntityKind.INTERFACE)


@dataclass(frozen=True, slots=True)
class Vote:
    """What one rule says.

    Attributes:
        type: the class that it speaks for.
        weight: how much.
        says: what it saw.
        at: where: file:line, or "".
        technology: of HORIZONTAL, which; or "".
    """

    type: EntityClass
    weight: float
    says: str
    at: str = ""
    technology: str = ""


class Votes:
    """The rules.

    Args:
        columns: the graph.
        places: what the paths say.
        domain: the words of the domain, and what modules make of imported things.
        entries: how each entity is started, by position.
    """

    def __init__(
        self, columns: Columns, places: Places, domain: Domain, entries: Sequence[Entry | None]
    ) -> None:
        self._columns, self._places, self._domain = columns, places, domain
        self._entries = entries

    def of(self, at: int) -> list[Vote]:
        """All that the facts of an entity itself say."""
        entity = self._columns.entities[at]
        place = self._places.of(entity.path)
        return [
            *self._entry(at),
            *self._public(entity, place),
            *self._domain_words(entity, place),
            *self._where(entity, place),
            *self._bases(at),
            *self._imports(at),
            *self._helper(at, place),
        ]

    def _entry(self, at: int) -> Iterator[Vote]:
        entry = self._entries[at]
        if entry is None:
            return
        if entry.kind is EntryKind.ROUTE:
            yield Vote(V, 2.5, f"It serves {entry.label}.", entry.at)
        elif entry.kind in (EntryKind.COMMAND, EntryKind.MAIN):
            yield Vote(V, 2.0, f"It is the command {entry.label}.", entry.at)
        elif entry.kind is EntryKind.HANDLER:
            word = entry.label.split("(")[0].rpartition(".")[2]
            if "error" in word or "exception" in word:
                yield Vote(H, 4.0, f"It handles errors: {entry.label}.", entry.at, _ERRORED)
            elif word in ("user_loader", "verify_password", "verify_token"):
                tech = technologies.AUTHENTICATION
                yield Vote(H, 4.0, f"It is registered: {entry.label}.", entry.at, tech)
            else:
                yield Vote(V, 0.5, f"It is registered: {entry.label}.", entry.at)

    def _public(self, entity: Entity, place: Place) -> Iterator[Vote]:
        """What a package offers is what it is for; what puts a program together is beneath it."""
        at = f"{entity.path}:{entity.line}"
        if entity.name in technologies.FACTORIES:
            yield Vote(H, 3.5, "It puts the program together.", at, technologies.CONFIGURATION)
        elif not place.helpers and self._domain.is_public(entity.path, entity.qualified):
            yield Vote(V, 1.5, "Its package offers it to everybody.", at)

    def _domain_words(self, entity: Entity, place: Place) -> Iterator[Vote]:
        noun = self._domain.noun_of(entity.name)
        at = f"{entity.path}:{entity.line}"
        if noun and not place.helpers:
            yield Vote(V, 1.25, f"Its name has {noun!r}, a thing of the domain.", at)
        named = [each for each in words(entity.name) if each in technologies.BY_WORD]
        if named:
            tech = technologies.BY_WORD[named[0]]
            yield Vote(H, 1.5, f"Its name has {named[0]!r}.", at, tech)

    def _where(self, entity: Entity, place: Place) -> Iterator[Vote]:
        if place.technology:
            weight = 2.25 if place.sure else 1.0
            yield Vote(H, weight, "Its path says so.", entity.path, place.technology)
        if place.feature and not place.helpers:
            yield Vote(V, 1.5, f"Its path names {place.feature!r}.", entity.path)
        if place.served:
            yield Vote(V, 1.0, "It is where users' requests arrive.", entity.path)
        if place.modelled:
            weight = 1.5 if entity.kind in _CONTAINERS else 1.0
            yield Vote(V, weight, "It is among the things of the domain.", entity.path)

    def _bases(self, at: int) -> Iterator[Vote]:
        entity = self._columns.entities[at]
        if entity.kind not in _CONTAINERS:
            return
        where = f"{entity.path}:{entity.line}"
        bases = self._columns.signals[at].bases
        if entity.name.endswith(_ERRORS) or any(each.endswith(_ERRORS) for each in bases):
            yield Vote(H, 4.0, "It is an error.", where, _ERRORED)
            return
        for base in bases:
            if base.rpartition(".")[2] in PLAIN_BASES:
                yield Vote(U, 2.0, f"It is a {base}.", where)
                return
            tech = self._technology_of(entity.path, base.split(".")[0])
            if tech == technologies.DATABASE:
                yield Vote(V, 2.5, f"It is stored: it extends {base}.", where)
            elif tech and tech not in technologies.AMBIENT:
                yield Vote(H, 2.5, f"It extends {base}.", where, tech)

    def _imports(self, at: int) -> Iterator[Vote]:
        entity, signals = self._columns.entities[at], self._columns.signals[at]
        file = self._columns.files.get(entity.path)
        if file is None:
            return
        told: set[str] = set()
        for number, line in signals.uses:
            binding = file.bindings[number]
            tech = self._domain.technology(binding)
            if not tech or tech in told or binding.local in GUARDS or line < entity.line:
                continue
            told.add(tech)
            usual = tech in technologies.AMBIENT or self._domain.is_usual(tech)
            weight = 0.4 if usual else 1.5
            weight *= 0.5 if entity.kind in _CONTAINERS else 1.0
            where = f"{entity.path}:{line}"
            yield Vote(H, weight, f"It uses {_shown(binding)}.", where, tech)

        for name, line in signals.attributes:
            tech = technologies.of_module(name) or ""
            if tech not in told:
                told.add(tech)
                yield Vote(H, 1.5, f"It uses {name}.", f"{entity.path}:{line}", tech)

    def _helper(self, at: int, place: Place) -> Iterator[Vote]:
        entity, signals = self._columns.entities[at], self._columns.signals[at]
        if place.helpers:
            yield Vote(U, 2.5, "It is among helpers.", entity.path)
        if entity.kind in _CONTAINERS or self._entries[at] is not None:
            return
        pure = not signals.effects and not signals.writes
        free = self._columns.parents[at] < 0
        offered = self._domain.is_public(entity.path, entity.qualified) and not place.helpers
        if pure and free and not offered:
            yield Vote(U, 1.0, "It has no effects, and belongs to no class.")
        first = words(entity.name)[:1]
        if pure and first and first[0] in HELPING:
            yield Vote(U, 1.0 if free else 0.5, f"It begins with {first[0]!r}, as helpers do.")

    def _technology_of(self, path: str, local: str) -> str:
        file = self._columns.files.get(path)
        found = [each for each in file.bindings if each.local == local] if file else []
        return self._domain.technology(found[0]) if found else ""


def _shown(binding: Binding) -> str:
    return f"{binding.module}.{binding.name}" if binding.name else binding.module


_ERRORED = technologies.ERROR_HANDLING
