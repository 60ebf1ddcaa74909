"""Folders as one would think of them: a model that the stores are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field

from plugins.workflows import limits
from plugins.workflows.model import PORTAL, TargetType, Visibility

Viewer = str | None


@dataclass(frozen=True)
class Thing:
    """An item that is there."""

    id: str
    type: TargetType
    owner: str
    name: str
    visibility: Visibility

    def seen_by(self, viewer: Viewer) -> bool:
        return self.visibility is Visibility.PUBLIC or self.owner == viewer


@dataclass
class Box:
    """A folder."""

    id: str
    name: str
    parent: Box | None
    position: int
    visibility: Visibility
    version: int = 1
    held: dict[str, int] = field(default_factory=dict)

    def above(self) -> list[Box]:
        """Itself and those around it, outwards."""
        return [self, *(self.parent.above() if self.parent else [])]


class Shelf:
    """All folders of one owner, and how they change."""

    def __init__(self, owner: str, things: list[Thing]) -> None:
        self.owner = owner
        self.things = {thing.id: thing for thing in things}
        self.boxes: list[Box] = []

    def below(self, box: Box) -> list[Box]:
        """Itself and all in it."""
        return [each for each in self.boxes if any(above is box for above in each.above())]

    def fits(self, box: Box | None, parent: Box | None) -> bool:
        """Whether a folder (None: a new one) may go into another."""
        if parent is None:
            return True
        if box is not None and any(above is box for above in parent.above()):
            return False
        levels = 1
        if box is not None:
            levels = max(len(each.above()) for each in self.below(box)) - len(box.above()) + 1
        return len(parent.above()) + levels <= limits.MAX_FOLDER_DEPTH

    def last(self, parent: Box | None) -> int:
        """The position behind all others of a parent."""
        return max((box.position for box in self.boxes if box.parent is parent), default=-1) + 1

    def listing(self, box: Box | None, viewer: Viewer) -> list[str]:
        """The ids of what a viewer sees in a folder, or at the top of this owner's."""
        mine = viewer == self.owner

        def seen(each: Box) -> bool:
            return mine or each.visibility is Visibility.PUBLIC

        at_top = (
            [each for each in self.boxes if each.parent is None]
            if mine
            else [each for each in self.boxes if each.parent is None or not seen(each.parent)]
        )
        inner = at_top if box is None else [each for each in self.boxes if each.parent is box]
        shown = sorted((each.position, each.name, each.id) for each in inner if seen(each))
        held = box.held if box is not None else {}
        items = [self.things[id] for id in held]
        placed = sorted(
            (held[each.id], each.name, each.id) for each in items if each.seen_by(viewer)
        )
        if box is None and not (mine or self.owner == PORTAL):
            return []
        return [id for _, _, id in shown] + [id for _, _, id in placed]
