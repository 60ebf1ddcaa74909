"""The feature area of every entity, from routes, paths, names and what it is linked with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.classify import Verdict
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.domain import Domain, thing_of_route
from plugins.codegraph.justification.places import Places, of_tests
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.model import EntityKind

ROUNDS = 3
"""How often entities without a feature of their own take that of what is around them."""
MOSTLY = 0.5
"""The share of links that must lead to one feature for it to take in what they come from."""
ALONE = 1
"""The most entities of an area that is too small to be a feature (decision 0076)."""
_WITHIN = 2
"""How many links to be part of a class, or of another function, counts as."""


def areas(
    columns: Columns,
    domain: Domain,
    places: Places,
    verdicts: Sequence[Verdict],
    known: Mapping[int, str],
) -> list[str]:
    """The feature of each VERTICAL entity, by position; "" for others and where nothing tells.

    What an entity says of itself comes first, then what most of its links lead to, then its folder
    or file. An area of one entity is no feature: it joins the one that it is linked with most.

    Args:
        columns: the graph.
        domain: the words of the domain.
        places: what paths say.
        verdicts: the classes.
        known: the features that are settled already, by position.
    """
    found = [known.get(at, "") for at in range(len(verdicts))]
    verticals = [
        at
        for at, each in enumerate(verdicts)
        if each.type is EntityClass.VERTICAL
        and at not in known
        and not of_tests(columns.entities[at].path)
    ]
    for at in verticals:
        found[at] = _own(columns, domain, places, at)
    for _ in range(ROUNDS):
        lacking = [at for at in verticals if not found[at]]
        around = [_most(Counter(found[each] for each in _linked(columns, at))) for at in lacking]
        for at, name in zip(lacking, around, strict=True):
            found[at] = name
    for at in verticals:
        found[at] = found[at] or _last(places, columns.entities[at].path)
    return _joined(columns, domain, found, verticals)


def _own(columns: Columns, domain: Domain, places: Places, at: int) -> str:
    """What an entity itself says: its path, its route, then its name and the class around."""
    entity = columns.entities[at]
    place = places.of(entity.path)
    if place.feature and not place.modelled:
        return domain.label(place.feature)
    for end in columns.routes.get(entity.key, ()):
        if part := thing_of_route(end.template):
            return domain.label(domain.noun_of(part) or part)
    noun = domain.noun_of(entity.name)
    if noun:
        return domain.label(noun)
    parent = columns.parents[at]
    if parent >= 0 and columns.entities[parent].kind is EntityKind.CLASS:
        around = domain.noun_of(columns.entities[parent].name)
        return domain.label(around) if around else ""
    return domain.label(place.feature) if place.feature else ""


def _last(places: Places, path: str) -> str:
    """The folder or file, where nothing else tells; never one that is a technology."""
    parts = [each for each in path.lower().split("/")[:-1] if each not in places.around]
    stem = path.lower().rpartition("/")[2].split(".")[0].strip("_")
    for each in (*parts[:1], stem):
        if each and each not in ("src", "lib", "init", "main", "index"):
            return technologies.BY_WORD.get(each, each.replace("_", " "))
    return ""


def _joined(
    columns: Columns, domain: Domain, found: Sequence[str], verticals: Sequence[int]
) -> list[str]:
    """The features, without areas that are too small to be one and lead mostly to another."""
    sizes = Counter(found[at] for at in verticals)
    large = {name for name in found if sizes[name] > ALONE or domain.is_feature(name)}
    links: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for at in verticals:
        if found[at] not in large:
            ahead = (found[each] for each in _linked(columns, at))
            links[found[at]].update(name for name in ahead if name not in ("", found[at]))
    into = {name: _most(around) for name, around in links.items()}
    return [new if (new := into.get(name, "")) in large else name for name in found]


def _linked(columns: Columns, at: int) -> Iterator[int]:
    """What an entity uses, what uses it, and what it is part of."""
    yield from columns.callers[at]
    yield from columns.callees[at]
    if columns.parents[at] >= 0:
        yield from (columns.parents[at],) * _WITHIN


def _most(around: Counter[str]) -> str:
    """The feature that at least :data:`MOSTLY` of the links lead to, or ""."""
    name, links = max(around.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    return name if links >= MOSTLY * around.total() else ""
