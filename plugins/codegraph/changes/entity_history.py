"""What the last indexes changed of one entity, through its renames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from plugins.codegraph.changes.history import ChangeHistory, PastChange, PastUpdate
from plugins.codegraph.changes.log import MAX_UPDATES
from plugins.codegraph.model import Entity
from plugins.codegraph.store.graph import RepositoryView

MAX_MOVES = 5
"""Through how many moves from one file to another an entity is followed."""
MAX_CHANGES = 2_000
"""The most changes of one file that are read to find those of the entity."""


@dataclass(slots=True)
class EntityHistory:
    """What became of an entity.

    Attributes:
        changes: its changes with the index that each is of, newest first.
        looked_at: the indexes that were looked through, newest first: all that are kept, or those
            since the entity was added; fewer of a file that changes more often than is read.
    """

    changes: list[tuple[PastChange, PastUpdate]] = field(default_factory=list)
    looked_at: list[PastUpdate] = field(default_factory=list)


async def history_of(history: ChangeHistory, view: RepositoryView, entity: Entity) -> EntityHistory:
    """Follow an entity back to where it was added, or to the oldest index that is kept.

    Args:
        history: the changes of all repositories.
        view: the repository.
        entity: whom to follow, as it is now.
    """
    updates = {each.id: each for each in await history.updates(view, MAX_UPDATES)}
    found = EntityHistory(looked_at=list(updates.values()))
    key, path, left = entity.key, entity.path, list(updates)
    for _ in range(MAX_MOVES):
        changes, total = await history.changes(view, left, MAX_CHANGES, (path,))
        if total > len(changes):
            oldest = changes[-1].update
            found.looked_at = [each for each in found.looked_at if each.id > oldest]
        steps = list(_back(changes, key, path))
        found.changes += [(each, updates[each.update]) for each in steps]
        before = steps[-1].told.before if steps else None
        if before is None or before.path == path:
            break
        key, path = before.key, before.path
        left = [each for each in left if each < steps[-1].update]
    if found.changes and found.changes[-1][0].told.before is None:
        added = found.changes[-1][0].update
        found.looked_at = [each for each in found.looked_at if each.id >= added]
    return found


def _back(changes: Sequence[PastChange], key: int, path: str) -> Iterator[PastChange]:
    """The changes of one entity, newest first, up to where it came into the file."""
    for each in changes:
        after, before = each.told.after, each.told.before
        if after is None or after.key != key:
            continue
        yield each
        if before is None or before.path != path:
            return
        key = before.key
