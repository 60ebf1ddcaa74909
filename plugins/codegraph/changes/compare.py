"""Compares two states of some files: what was added, updated, deleted and renamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from plugins.codegraph.changes.pairs import Pairs
from plugins.codegraph.changes.versions import Version
from plugins.codegraph.model import EntityKind


class ChangeKind(StrEnum):
    """What became of an entity."""

    ADDED = "added"
    UPDATED = "updated"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class EntityChange:
    """What became of one entity.

    Attributes:
        kind: in one word; renamed is also what is in another file now.
        before: what it was; None if added.
        after: what it is; None if deleted.
        edited: whether its own text is another too, apart from its name.
    """

    kind: ChangeKind
    before: Version | None
    after: Version | None
    edited: bool = False

    @property
    def shown(self) -> Version:
        """What it is, or what it was where it is no more."""
        found = self.after or self.before
        assert found is not None  # noqa: S101 - one of the two is there
        return found


def compare(before: Sequence[Version], after: Sequence[Version]) -> list[EntityChange]:
    """What became of the entities of some files.

    Args:
        before: all entities of these files as they were.
        after: all entities of these files as they are.

    Returns:
        The changes, by file and line. Each entity of either state is in one of them at most; those
        that only stand on other lines are in none.
    """
    pairs = Pairs(before, after)
    found = [EntityChange(ChangeKind.DELETED, each, None, edited=True) for each in pairs.gone()]
    found += [EntityChange(ChangeKind.ADDED, None, each, edited=True) for each in pairs.came()]
    for old, new in pairs.found():
        change = _change(old, new)
        if change is not None:
            found.append(change)
    return sorted(found, key=_order)


def _change(old: Version, new: Version) -> EntityChange | None:
    before, after = old.entity, new.entity
    if (before.path, before.qualified) != (after.path, after.qualified):
        return EntityChange(ChangeKind.RENAMED, old, new, edited=old.shape != new.shape)
    if before.key == after.key and old.own == new.own:
        return None
    return EntityChange(ChangeKind.UPDATED, old, new, edited=True)


def _order(change: EntityChange) -> tuple[str, bool, int, str, bool]:
    entity = change.shown.entity
    is_part = entity.kind is not EntityKind.FILE
    return entity.path, is_part, entity.line, entity.qualified, change.after is None
