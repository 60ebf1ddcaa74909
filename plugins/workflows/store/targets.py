"""Workflows, skill cards and mini-prompts by the words that people name them with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import ToolFailed
from plugins.workflows import errors
from plugins.workflows.model import PORTAL, TargetType, Viewer
from plugins.workflows.store.kinds import TYPE_NAMES
from plugins.workflows.store.queries import find


@dataclass(frozen=True, slots=True)
class Target:
    """An item that was found."""

    type: TargetType
    id: str
    owner: str


async def find_target(
    connection: AsyncConnection,
    ref: str,
    viewer: Viewer,
    types: Collection[TargetType] = tuple(TargetType),
) -> Target:
    """The item of an id or a key: the viewer's own, else the portal's, else by its id alone.

    Args:
        connection: to read with.
        ref: an id or a key.
        viewer: who names it.
        types: what it may be.

    Raises:
        ToolFailed: there is none, it is another's private one, or several are called so.
    """
    found, denied = [], None
    for type in types:
        try:
            row = await find(connection, type, ref, viewer)
            found.append(Target(type, row.id, row.owner))
        except ToolFailed as failed:
            if failed.code == "access_denied":
                denied = failed
    if not found:
        one = TYPE_NAMES[next(iter(types))] if len(types) == 1 else "Item"
        raise denied or errors.not_found(one)
    best = min(_distance(each, viewer) for each in found)
    nearest = [each for each in found if _distance(each, viewer) == best]
    if len(nearest) > 1:
        kinds = " and a ".join(sorted(each.type for each in nearest))
        raise errors.bad_input(f"There is a {kinds} called {ref}. Say which by its type.")
    return nearest[0]


def _distance(found: Target, viewer: Viewer) -> int:
    return 0 if found.owner == viewer else 1 if found.owner == PORTAL else 2
