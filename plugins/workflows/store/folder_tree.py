"""How a person's folders hang together: what is above and below one, and where one may go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from plugins.workflows import errors, limits
from plugins.workflows.model import Folder


class Tree:
    """All folders of one owner that are not deleted.

    Args:
        folders: each, with those around it.
    """

    def __init__(self, folders: Iterable[Folder]) -> None:
        self._folders = {folder.id: folder for folder in folders}
        self._inside: defaultdict[str, list[str]] = defaultdict(list)
        for folder in self._folders.values():
            if folder.parent is not None:
                self._inside[folder.parent].append(folder.id)

    def down_to(self, folder: str | None) -> list[Folder]:
        """The chain of folders from the top down to one, which is the last; none for None."""
        chain = []
        while folder is not None:
            chain.append(self._folders[folder])
            folder = self._folders[folder].parent
        return chain[::-1]

    def levels(self, folder: str) -> list[list[str]]:
        """A folder's id, the ids of those in it, of those in these, and so on."""
        found = [[folder]]
        while inside := [each for parent in found[-1] for each in self._inside.get(parent, [])]:
            found.append(inside)
        return found

    def check_room(self, parent: str | None, levels: int = 1) -> None:
        """See to it that something fits into a folder.

        Args:
            parent: the folder that it goes into, or None for the top.
            levels: how many levels of folders it brings.

        Raises:
            ToolFailed: folders would lie deeper than ``limits.FOLDER_DEPTH``.
        """
        chain = self.down_to(parent)
        if len(chain) + levels > limits.MAX_FOLDER_DEPTH:
            raise errors.bad_input(
                f"Folders may lie {limits.MAX_FOLDER_DEPTH} deep; in {_path(chain)} there would be "
                f"{len(chain) + levels} levels. Choose a folder further up.",
                limit=limits.MAX_FOLDER_DEPTH,
            )

    def check_move(self, folder: str, parent: str | None) -> None:
        """See to it that a folder may go into another one, with all that is in it.

        Raises:
            ToolFailed: it would be inside itself, or lie too deep.
        """
        chain = self.down_to(parent)
        for place, above in enumerate(chain):
            if above.id == folder:
                raise errors.bad_input(
                    "A folder cannot be inside itself: that would be "
                    f"{_path([*chain[place:], above])}. Choose another parent."
                )
        self.check_room(parent, len(self.levels(folder)))


def _path(chain: Iterable[Folder]) -> str:
    return " > ".join(folder.name for folder in chain)
