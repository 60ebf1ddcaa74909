"""What the other repositories that a caller may see have to do with an entity of one."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.contract import Caller
from plugins.codegraph.linker.mentions import BY_SEARCH_PATH, as_outside
from plugins.codegraph.model import Entity
from plugins.codegraph.tools.access import Access, Opened

MAX_PLACES = 20
"""The most places in other repositories that an answer names."""


async def imports_elsewhere(
    access: Access, caller: Caller, opened: Opened, about: Sequence[Entity]
) -> list[str]:
    """Where other repositories import an entity, as ``repository/file:line``.

    They name it by its module, so this is an import of that name from a module of that name: of
    this repository's package, as far as the importing file can tell.

    Args:
        access: opens the repositories.
        caller: who asks; only what they may see is looked at.
        opened: the repository of the entity.
        about: the entities of one name.
    """
    seen = [each for each in about if each.exported and each.language in BY_SEARCH_PATH]
    if not seen:
        return []
    asked = {name for each in seen for name in as_outside(each.path, each.qualified)}
    places: list[str] = []
    for graph in await access.all_graphs(caller, opened):
        if graph.repo.id != opened.graph.repo.id:
            # Of a whole module that is imported, the uses of the name count.
            found = await graph.mentions({name for name in asked if not name.endswith(":*")})
            places += [f"{graph.repo.name}/{each.path}:{each.line}" for each in found]
    return places[:MAX_PLACES]
