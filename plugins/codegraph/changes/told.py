"""What is kept of a change: the entity before and after, a few lines of each, and its callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from plugins.codegraph.changes.compare import ChangeKind, EntityChange
from plugins.codegraph.changes.versions import Version
from plugins.codegraph.model import EntityKind
from plugins.codegraph.store.codes import ENTITY_CODES, ENTITY_KINDS
from plugins.codegraph.store.compression import deflated, inflated

MAX_LINES, MAX_CHARACTERS = 30, 2_000
"""The most lines of each side, and their characters: those where the two begin to differ."""
CONTEXT = 3
"""Lines that both have, before and after those that differ."""
KIND_CODES = {
    ChangeKind.ADDED: 0,
    ChangeKind.UPDATED: 1,
    ChangeKind.DELETED: 2,
    ChangeKind.RENAMED: 3,
}
"""The numbers that stand for kinds in the database; they never change."""
KINDS = {code: kind for kind, code in KIND_CODES.items()}


class Side(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entity before or after a change.

    Attributes:
        key, name, qualified, path, line, end_line, signature: as of :class:`Entity`.
        kind_code: the number of its kind.
        text: the lines around what differs, or "" where they are not kept.
        text_line: the number of the first of them.
        cut: whether there are more of them.
    """

    key: int
    kind_code: int
    name: str
    qualified: str
    path: str
    line: int
    end_line: int
    signature: str
    text: str = ""
    text_line: int = 0
    cut: bool = False

    @property
    def kind(self) -> EntityKind:
        """What it is."""
        return ENTITY_KINDS[self.kind_code]


class Told(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One change, as it is kept.

    Attributes:
        before, after: the entity; None where it was not there, or is no more.
        edited: whether its own text is another, apart from its name.
        note: what else to know of it, or "".
        callers: the keys of what called it.
        beyond: the keys of what called those.
    """

    before: Side | None
    after: Side | None
    edited: bool
    note: str = ""
    callers: Sequence[int] = ()
    beyond: Sequence[int] = ()

    @property
    def key(self) -> int:
        """Whom it is about: as it is now, or as it was."""
        side = self.after or self.before
        return 0 if side is None else side.key


def packed(told: Told) -> bytes:
    """A change in its stored form."""
    return deflated(msgspec.msgpack.encode(told))


def unpacked(data: bytes) -> Told:
    """A change from its stored form."""
    return msgspec.msgpack.decode(inflated(data), type=Told)


def sides(
    change: EntityChange, before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[Side | None, Side | None]:
    """Both sides of a change, with the lines around what differs.

    Args:
        change: the change.
        before, after: the texts of files, by path; without one, no lines are kept.
    """
    old, new = _lines(change.before, before), _lines(change.after, after)
    same, end = _common(old, new)
    return _side(change.before, old, same, end), _side(change.after, new, same, end)


def _lines(version: Version | None, texts: Mapping[str, str]) -> list[str]:
    if version is None or version.entity.path not in texts:
        return []
    is_file = version.entity.kind is EntityKind.FILE
    lines = texts[version.entity.path].split("\n")
    return lines if is_file else lines[version.first - 1 : version.entity.end_line]


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines both have at the beginning, and then at the end; none if all is the same."""
    least = min(len(old), len(new))
    same = next((at for at in range(least) if old[at] != new[at]), least)
    if same == least == max(len(old), len(new)):
        return 0, 0
    left = least - same
    return same, next((at for at in range(left) if old[-1 - at] != new[-1 - at]), left)


def _side(version: Version | None, lines: Sequence[str], same: int, end: int) -> Side | None:
    if version is None:
        return None
    entity = version.entity
    start, stop = max(0, same - CONTEXT), len(lines) - max(0, end - CONTEXT)
    wanted = lines[start:stop]
    text = "\n".join(line.rstrip() for line in wanted[:MAX_LINES])
    return Side(
        entity.key,
        ENTITY_CODES[entity.kind],
        entity.name,
        entity.qualified,
        entity.path,
        entity.line,
        entity.end_line,
        entity.signature,
        text[:MAX_CHARACTERS],
        (1 if entity.kind is EntityKind.FILE else version.first) + start if text else 0,
        cut=len(wanted) > MAX_LINES or len(text) > MAX_CHARACTERS,
    )
