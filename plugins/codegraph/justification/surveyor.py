"""Puts together the outline of a repository from its whole graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.areas import ALONE
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.domain import Domain, thing_of_route
from plugins.codegraph.justification.outline import Outline
from plugins.codegraph.justification.places import Places, around
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.justification.words import GENERIC, singular, words
from plugins.codegraph.model import EntityKind

_EVERYWHERE = 0.3
"""The share of files that makes a technology the subject of a repository."""


def outlined(columns: Columns, paths: Collection[str]) -> Outline:
    """The outline of a repository.

    Args:
        columns: the graph.
        paths: its files with code that are no tests.
    """
    outline = Outline(around=around(paths), packages=_packages(columns))
    outline = replace(outline, instances=_instances(columns, Domain(outline)))
    domain = Domain(outline)
    things = _things(columns, domain, Places(outline.around))
    usual, public = _usual(columns, domain), _public(columns, domain)
    return replace(outline, things=things, usual=usual, public=public)


def features_of(statements: Iterable[Statement]) -> frozenset[str]:
    """The features that more than one entity is part of."""
    counts = Counter(each.feature for each in statements if each.feature)
    return frozenset(name for name, count in counts.items() if count > ALONE)


def _packages(columns: Columns) -> frozenset[str]:
    """The names by which the repository's own packages are imported."""
    found: set[str] = set()
    for path in columns.paths:
        parts = path.split("/")
        found.add(parts[0].split(".")[0])
        if parts[0] in ("src", "lib") and len(parts) > 1:
            found.add(parts[1].split(".")[0])
    return frozenset(found - {"src", "lib", "", "tests", "test", "docs"})


def _instances(columns: Columns, domain: Domain) -> dict[str, str]:
    """Names that a module gives to what an imported thing makes, such as ``db``."""
    found: dict[str, str] = {}
    for file in columns.files.values():
        for name, number in file.instances:
            binding = file.bindings[number]
            if not domain.is_own(binding.module):
                whole = f"{binding.module}.{binding.name}".rstrip(".")
                if tech := technologies.of_module(whole):
                    found.setdefault(name, tech)
    return found


def _usual(columns: Columns, domain: Domain) -> frozenset[str]:
    """Technologies that many files use."""
    counts: Counter[str] = Counter()
    for file in columns.files.values():
        counts.update({domain.technology(each) for each in file.bindings} - {""})
    least = max(3, _EVERYWHERE * len(columns.files))
    return frozenset(tech for tech, count in counts.items() if count >= least)


def _public(columns: Columns, domain: Domain) -> frozenset[tuple[str, str]]:
    """What packages import to give it on."""
    found: set[tuple[str, str]] = set()
    for path, file in columns.files.items():
        if path.rpartition("/")[2].split(".")[0] in ("__init__", "index"):
            for each in file.bindings:
                if domain.is_own(each.module) and each.name:
                    stem = each.module.replace("/", ".").rpartition(".")[2]
                    found.add((stem, each.name))
    return frozenset(found)


def _things(columns: Columns, domain: Domain, places: Places) -> dict[str, str]:
    """The things of the domain: what is stored or modelled, and what routes are about."""
    counts: Counter[str] = Counter()
    for at, entity in enumerate(columns.entities):
        if entity.kind in (EntityKind.CLASS, EntityKind.INTERFACE) and not entity.test:
            counts.update(_of_class(columns, domain, places, at))
    ends = (end for served in columns.routes.values() for end in served)
    counts.update(filter(None, (thing_of_route(end.template) for end in ends)))
    forms: dict[str, Counter[str]] = {}
    for word, count in counts.items():
        if _is_telling(word):
            forms.setdefault(singular(word), Counter())[word] += count
    found = {}
    for key, seen in forms.items():
        word = max(seen, key=lambda each: (each != key, seen[each], each))
        found[key] = word.replace("_", " ")
    return found


def _of_class(columns: Columns, domain: Domain, places: Places, at: int) -> list[str]:
    """The thing that a class stands for, twice where it is stored; often none."""
    entity = columns.entities[at]
    modelled, own = places.of(entity.path).modelled, words(entity.name)
    if own and len(own) <= 2 and _is_stored(columns, domain, at):
        return [own[-1]] * 2
    return [own[0]] if modelled and len(own) == 1 else []


def _is_stored(columns: Columns, domain: Domain, at: int) -> bool:
    file = columns.files.get(columns.entities[at].path)
    if file is None:
        return False
    locals_ = {each.local: each for each in file.bindings}
    heads = (locals_.get(base.split(".")[0]) for base in columns.signals[at].bases)
    return any(each and domain.technology(each) == technologies.DATABASE for each in heads)


def _is_telling(word: str) -> bool:
    """Whether a word can be a thing of a domain: not one of every project, nor a technology."""
    key = singular(word)
    if word in technologies.BY_WORD or key in technologies.BY_WORD:
        return False
    return len(key) > 2 and key not in GENERIC and word not in GENERIC
