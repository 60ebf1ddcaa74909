"""An outline of the docs that saves an agent's context: large sections are folded.

A section that does not fit is not shown but counted, and asked for by itself; of one that alone
is larger than an answer, a part is shown, and where to go on.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from gateway.contract import Page, near
from gateway.repositories import SourceFailed
from plugins.skills_repo.lists import summary_line
from plugins.skills_repo.results import DocList, DocSection

MAX_BYTES = Page.bytes
"""Bytes of an outline's JSON, about; as those of a page of any list."""
_MAX_UNFOLDED_PAGES = 1_000
"""Pages that may be shown whole; the keys of more have no room."""

Tree = Mapping[str, Any]
Keys = tuple[str, ...]


def outline(tree: Tree, section: Sequence[str], offset: int, *, details: bool) -> DocList:
    """The docs, or one section of them, as far as there is room.

    Args:
        tree: sections within sections; a leaf is what a page says of itself, or None.
        section: the keys down to the one that is asked for; none are all docs.
        offset: how many of the section's own entries to leave out.
        details: whether to show every page, and all that it says of itself, whatever the size.

    Raises:
        SourceFailed: NOT_FOUND, there is no such section.
    """
    asked = _section(tree, section)
    keys = tuple(section)
    count = _pages(asked)
    if details or (offset <= 0 and count <= _MAX_UNFOLDED_PAGES and _bytes(asked) <= MAX_BYTES):
        return DocList(docs=_within(keys, asked), pages=count)
    shown = _OutlineBuilder(keys)
    next_offset = shown.begin(asked, max(offset, 0))
    while next_offset is None and shown.closed:
        shown.unfold()
    return DocList(
        docs=_within(keys, shown.docs),
        pages=count,
        folded=[
            DocSection(path=list(path), pages=_pages(inside))
            for path, inside in (*shown.closed, *shown.folded)
        ],
        next_offset=next_offset,
    )


@dataclass(slots=True)
class _OutlineBuilder:
    """What is shown of a section.

    Attributes:
        keys: those down to the section.
        docs: its pages so far, as a tree.
        closed: sections whose pages may find room yet, the outer ones first.
        folded: those that found none.
        room: the bytes that are left.
    """

    keys: Keys
    docs: dict[str, Any] = field(default_factory=dict)
    closed: deque[tuple[Keys, Tree]] = field(default_factory=deque)
    folded: list[tuple[Keys, Tree]] = field(default_factory=list)
    room: int = MAX_BYTES

    def begin(self, section: Tree, offset: int) -> int | None:
        """Show as many of the section's own entries as fit; where to go on, if not all do."""
        for place, (key, value) in enumerate(islice(section.items(), offset, None), offset):
            cost = _cost(self.keys, key, value)
            if cost > self.room and place > offset:
                return place
            self._show(self.keys, key, value, cost)
        return None

    def unfold(self) -> None:
        """Show the entries of the next section in place of its count, if all of them fit."""
        keys, section = self.closed.popleft()
        costs = [_cost(keys, key, value) for key, value in section.items()]
        if sum(costs) > self.room:
            self.folded.append((keys, section))
            return
        for (key, value), cost in zip(section.items(), costs, strict=True):
            self._show(keys, key, value, cost)

    def _show(self, above: Keys, key: str, value: Any, cost: int) -> None:
        self.room -= cost
        if isinstance(value, Mapping):
            self.closed.append(((*above, key), value))
            return
        inside = self.docs
        for each in above[len(self.keys) :]:
            inside = inside.setdefault(each, {})
        inside[key] = summary_line(value)


def _section(tree: Tree, section: Sequence[str]) -> Tree:
    found = tree
    for depth, key in enumerate(section):
        inside = found.get(key)
        if not isinstance(inside, Mapping):
            raise _no_section(tree, section, depth, found)
        found = inside
    return found


def _no_section(tree: Tree, section: Sequence[str], depth: int, found: Tree) -> SourceFailed:
    name = "/".join(section)
    if section[depth] in found:
        advice = "That is a page: read it with get_doc."
        return SourceFailed("NOT_FOUND", f"There is no section {name!r}. {advice}")
    known = ["/".join(path) for path in _sections(tree)]
    nearest = near(name, known)
    said = [f"There is no section {name!r}."]
    said += [f"Did you mean {' or '.join(map(repr, nearest))}?"] if nearest else []
    error = SourceFailed("NOT_FOUND", " ".join([*said, "`list_docs` shows the sections."]))
    if nearest:
        error.details["near"] = nearest
    return error


def _sections(tree: Tree, above: Keys = ()) -> Iterator[Keys]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield (*above, key)
            yield from _sections(value, (*above, key))


def _within(keys: Sequence[str], shown: Tree) -> dict[str, Any]:
    """What is shown of a section, below all the keys that lead to it."""
    for key in reversed(keys):
        shown = {key: shown}
    return dict(shown)


def _pages(tree: Tree) -> int:
    return sum(_pages(each) if isinstance(each, Mapping) else 1 for each in tree.values())


def _cost(above: Keys, key: str, value: Any) -> int:
    """The bytes that an entry takes: a page's line, or a section's count and its own key."""
    if isinstance(value, Mapping):
        return _bytes({"path": [*above, key], "pages": _pages(value)}) + _bytes({key: {}})
    return _bytes({key: summary_line(value)})


def _bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
