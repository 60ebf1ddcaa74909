"""Finds which entity of one state of the code is which one of another.

By identity first, then by what contains them and their name, then by their text under another name
or in another file. Short texts are alike by chance, so that they count only in the same place, and
only where no other fits as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from plugins.codegraph.changes.versions import Version
from plugins.codegraph.model import EntityKind

MIN_WORDS = 10
"""The fewest words of a text that is recognised in another place."""
ALIKE = 0.5
"""The share of a file's entities that are in another file unchanged, for it to be the same."""
_KINDS = {EntityKind.METHOD: EntityKind.FUNCTION, EntityKind.INTERFACE: EntityKind.CLASS}
"""Kinds that one thing may be in turn: a function becomes a method as it moves into a class."""

_Key: TypeAlias = Callable[[Version], Hashable]
_Text: TypeAlias = Callable[[Version], tuple[bytes, int]]


class Pairs:
    """Pairs the entities of two states.

    Args:
        before: all entities of some files as they were.
        after: all entities of these files as they are.
    """

    def __init__(self, before: Sequence[Version], after: Sequence[Version]) -> None:
        self._old = {each.entity.key: each for each in sorted(before, key=_place)}
        self._new = {each.entity.key: each for each in sorted(after, key=_place)}
        self._pairs: dict[int, int] = {}
        self._taken: set[int] = set()
        for key in self._old.keys() & self._new.keys():
            self._pair(self._old[key], self._new[key])
        if self._is_done():
            return
        self._match(lambda each: (each.entity.path, each.entity.kind, each.entity.qualified))
        self._match(lambda each: (each.entity.path, each.entity.qualified))
        self._files()
        for some_old, some_new in self._by_depth():
            self._renamed(some_old, some_new)

    def found(self) -> Iterator[tuple[Version, Version]]:
        """The pairs: what was, and what it is now."""
        for old, new in self._pairs.items():
            yield self._old[old], self._new[new]

    def gone(self) -> list[Version]:
        """What is no more."""
        return [each for key, each in self._old.items() if key not in self._pairs]

    def came(self) -> list[Version]:
        """What was not there before."""
        return [each for key, each in self._new.items() if key not in self._taken]

    def _is_done(self) -> bool:
        return len(self._pairs) in (len(self._old), len(self._new))

    def _pair(self, old: Version, new: Version) -> None:
        self._pairs[old.entity.key] = new.entity.key
        self._taken.add(new.entity.key)

    def _match(
        self,
        key: _Key,
        former: _Key | None = None,
        among: tuple[Iterable[Version], Iterable[Version]] | None = None,
        *,
        unique: bool = False,
    ) -> None:
        """Pair what is left and has the same key, in order.

        Args:
            key: of what is now, and of what was.
            former: the key of what was, where that is another.
            among: which of both states are meant; all if None.
            unique: whether only one on each side may have the key.
        """
        old, new = among or (self.gone(), self.came())
        was = _grouped((each for each in old if each.entity.key not in self._pairs), former or key)
        now = _grouped((each for each in new if each.entity.key not in self._taken), key)
        for each, those in now.items():
            then = was.get(each, [])
            if not unique or len(then) == len(those) == 1:
                for one, other in zip(then, those, strict=False):
                    self._pair(one, other)

    def _files(self) -> None:
        """Pair files with the same text, then those that most entities moved between."""
        old, new = self.gone(), self.came()
        same = [each for each in old if _is_file(each) and each.whole_weight]
        self._match(lambda each: each.whole, among=(same, filter(_is_file, new)))
        gone = {each.entity.path: each for each in filter(_is_file, self.gone())}
        came = {each.entity.path: each for each in filter(_is_file, self.came())}
        for path, now in _moved(old, new):
            if path in gone and now in came:
                self._pair(gone.pop(path), came.pop(now))

    def _by_depth(self) -> Iterator[tuple[list[Version], list[Version]]]:
        """What is left, from what contains to what is contained."""
        old, new = _depths(self._old), _depths(self._new)
        for depth in range(1, max([0, *new.values()]) + 1):
            yield (
                [each for each in self.gone() if old[each.entity.key] == depth],
                [each for each in self.came() if new[each.entity.key] == depth],
            )

    def _renamed(self, old: list[Version], new: list[Version]) -> None:
        """Pair entities of one depth, nearest first; what contains them is paired already."""
        if not old or not new:
            return
        self._in_place(lambda each: (_kind(each), each.entity.name), old, new)
        for text in (_whole, _shape):
            self._in_place(_alike(text), old, new, unique=True)
            long = [each for each in old if text(each)[1] >= MIN_WORDS]
            for near in (_path, _name, _nothing):
                self._match(_alike(text, near), among=(long, new))

    def _in_place(
        self, key: _Key, old: list[Version], new: list[Version], *, unique: bool = False
    ) -> None:
        """Pair what has the same key in the same place, be that renamed itself."""
        parents = self._pairs
        self._match(
            lambda each: (each.entity.parent, key(each)),
            lambda each: (parents.get(each.entity.parent or 0), key(each)),
            (old, new),
            unique=unique,
        )


def _moved(old: Sequence[Version], new: Sequence[Version]) -> list[tuple[str, str]]:
    """Files that may be others under a new path, the likeliest first, as both paths."""
    there = _grouped((each for each in new if not _is_file(each)), _identity)
    sizes = Counter(each.entity.path for each in old if not _is_file(each))
    alike: Counter[tuple[str, str]] = Counter()
    for each in old:
        paths = {other.entity.path for other in there.get(_identity(each), ())}
        alike.update((each.entity.path, path) for path in paths)
    likely = (item for item in alike.items() if item[1] >= ALIKE * sizes[item[0][0]])
    return [pair for pair, _ in sorted(likely, key=lambda item: (-item[1], item[0]))]


def _depths(versions: Mapping[int, Version]) -> dict[int, int]:
    """By key, in how many others an entity is contained."""
    found: dict[int, int] = {}
    for key in versions:
        around: list[int] = []
        at: int | None = key
        # A circle would be a fault of a language's reader, and must not hold up an index.
        while at is not None and at not in found and at not in around:
            around.append(at)
            at = versions[at].entity.parent if at in versions else None
        depth = found.get(at, 0) + 1 if at is not None else 0
        for steps, each in enumerate(reversed(around)):
            found[each] = depth + steps
    return found


def _grouped(versions: Iterable[Version], key: _Key) -> Mapping[Hashable, list[Version]]:
    found: defaultdict[Hashable, list[Version]] = defaultdict(list)
    for each in versions:
        found[key(each)].append(each)
    return found


def _is_file(each: Version) -> bool:
    return each.entity.kind is EntityKind.FILE


def _kind(each: Version) -> EntityKind:
    return _KINDS.get(each.entity.kind, each.entity.kind)


def _identity(each: Version) -> tuple[EntityKind, str, bytes]:
    return each.entity.kind, each.entity.qualified, each.own


def _alike(text: _Text, near: Callable[[Version], str] | None = None) -> _Key:
    """The key of what has the same text, and is as near."""
    return lambda each: (_kind(each), text(each)[0], near(each) if near else "")


def _whole(each: Version) -> tuple[bytes, int]:
    return each.whole, each.whole_weight


def _shape(each: Version) -> tuple[bytes, int]:
    return each.shape, each.weight


def _path(each: Version) -> str:
    return each.entity.path


def _name(each: Version) -> str:
    return each.entity.name


def _nothing(each: Version) -> str:
    return ""


def _place(each: Version) -> tuple[str, int, str, int]:
    return each.entity.path, each.entity.line, each.entity.qualified, each.entity.key
