"""Two changes of one version become one, where they do not contradict each other.

A three-way merge (README, "Versions"): what only one side changed is taken from that side, what
both changed alike is taken once, tags and custom fields are merged one by one, and text line by
line. What both changed differently is a conflict, and is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any

TEXT = "content"
"""The field that is merged line by line."""
TAGS = "tags"
"""The field that is merged as a set."""
CUSTOM = "custom"
"""The field that is merged key by key."""
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge gives.

    Attributes:
        fields: the merged values; of a field in conflict, what the base had.
        conflicts: the names of the fields that both sides changed differently.
    """

    fields: Mapping[str, Any]
    conflicts: frozenset[str] = frozenset()


def merge(base: Mapping[str, Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> Merged:
    """Merge two changes of one version; which of the two is called ``one`` makes no difference.

    Args:
        base: the version that both began with: its ``content``, a text, which each side has too,
            ``tags``, ``custom`` and any others.
        one: the fields as one side wants them.
        other: the fields as the other side wants them.
    """
    return _merged(base, one, other, _field)


_Field = Callable[[str, Any, Any, Any], tuple[Any, Set[str]]]


def _merged(
    base: Mapping[str, Any], one: Mapping[str, Any], other: Mapping[str, Any], field: _Field
) -> Merged:
    fields: dict[str, Any] = {}
    conflicts: set[str] = set()
    for name in sorted(base.keys() | one.keys() | other.keys()):
        sides = [side.get(name, _ABSENT) for side in (base, one, other)]
        value, clashes = field(name, *sides)
        conflicts |= clashes
        if value is not _ABSENT:
            fields[name] = value
    return Merged(fields, frozenset(conflicts))


def _whole(name: str, base: Any, one: Any, other: Any) -> tuple[Any, Set[str]]:
    """A value that is one side's or the other's."""
    if one in (base, other):
        return other, frozenset()
    if other == base:
        return one, frozenset()
    return base, {name}


def _field(name: str, base: Any, one: Any, other: Any) -> tuple[Any, Set[str]]:
    value, clashes = _whole(name, base, one, other)
    if not clashes:
        return value, clashes
    if name == TAGS:
        return _tags(_filled(base, ()), _filled(one, ()), _filled(other, ())), frozenset()
    if name == CUSTOM:
        inner = _merged(_filled(base, {}), _filled(one, {}), _filled(other, {}), _whole)
        return inner.fields, {f"{CUSTOM}.{each}" for each in inner.conflicts}
    if name == TEXT and (text := _text(base, one, other)) is not None:
        return text, frozenset()
    return value, clashes


def _tags(base: tuple[str, ...], one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Added where either side added it, gone where either took it out; the base's order first."""
    gone = (set(base) - set(one)) | (set(base) - set(other))
    kept = [tag for tag in base if tag not in gone]
    added = sorted((set(one) | set(other)) - set(base))
    return tuple(dict.fromkeys((*kept, *added)))


def _text(base: str, one: str, other: str) -> str | None:
    """The merged text, or None where both sides changed the same lines."""
    from merge3 import Merge3

    first, second = sorted((one, other))
    before, left, right = (text.splitlines(keepends=True) for text in (base, first, second))
    lines: list[str] = []
    for group in Merge3(before, left, right).merge_groups():
        if group[0] == "conflict":
            return None
        lines += group[1]
    return "".join(lines)


def _filled(value: Any, empty: Any) -> Any:
    return empty if value is _ABSENT or value is None else value
