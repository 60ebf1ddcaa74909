"""The area of the code that a file belongs to: its package, as far as that says something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

HALF, NEARLY_ALL = 0.5, 0.95
"""A folder with more than this part of all files is opened, and its folders are areas."""
_FEW = 3
"""A folder of so few files is never opened."""


class Areas:
    """Names the area of each file.

    An area is a folder that has at most a part of the files of code, as near to the root as
    possible; a file that lies directly in a larger one is an area of its own.

    Args:
        paths: the files of the code, without tests.
        largest: that part: :data:`HALF`, or :data:`NEARLY_ALL` for top packages.
    """

    def __init__(self, paths: Iterable[str], largest: float = HALF) -> None:
        files = set(paths)
        self._counts = Counter(folder for path in files for folder in _above(path))
        self._most = max(largest * len(files), _FEW)

    def of(self, path: str) -> str:
        """The area of a file, as a path from the repository's root."""
        for folder in _above(path):
            if self._counts[folder] <= self._most:
                return folder
        return path


def _above(path: str) -> list[str]:
    """The folders around a file, the outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]
