"""The feature area of every entity, from routes, paths, names and neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.classify import Verdict
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.domain import Domain
from plugins.codegraph.justification.places import Places
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.model import EntityKind

ROUNDS = 3
"""How often entities without a feature of their own take that of their neighbours."""


def areas(
    columns: Columns, domain: Domain, places: Places, verdicts: Sequence[Verdict]
) -> list[str]:
    """The feature of each VERTICAL entity, by position; "" for others and where nothing tells.

    Args:
        columns: the graph.
        domain: the words of the domain.
        places: what paths say.
        verdicts: the classes.
    """
    found = [""] * len(verdicts)
    verticals = [at for at, each in enumerate(verdicts) if each.type is EntityClass.VERTICAL]
    for at in verticals:
        found[at] = _own(columns, domain, places, at)
    for _ in range(ROUNDS):
        lacking = [at for at in verticals if not found[at]]
        for at in lacking:
            around = [*columns.callers[at], *columns.callees[at]]
            parent = columns.parents[at]
            near = Counter(found[each] for each in around if found[each])
            if parent >= 0 and found[parent]:
                near[found[parent]] += 2
            if near:
                found[at] = max(near, key=lambda name: (near[name], name))
    for at in verticals:
        found[at] = found[at] or _last(places, columns.entities[at].path)
    return found


def _own(columns: Columns, domain: Domain, places: Places, at: int) -> str:
    """What an entity itself says: its path, its route, then its name and the class around."""
    entity = columns.entities[at]
    place = places.of(entity.path)
    if place.feature and not place.modelled:
        return domain.label(place.feature)
    for end in columns.routes.get(entity.key, ()):
        if part := domain.of_route(end.template):
            return domain.label(part)
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
