"""Who owns files, as a repository's CODEOWNERS says; its patterns are other people's data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")
"""Where the file may be; the first that is there counts, as for GitHub."""
MAX_BYTES, MAX_LINES = 256 * 1024, 2_000
"""The most of a file that is read: what is longer is left aside."""
MAX_WILDCARDS = 6
"""The most wildcards of a pattern; one with more could take long to match, and is left out, as is
what is no pattern."""

OwnersOf = Callable[[str], Sequence[str]]
"""``owners_of(path)``: the owners that a file has, as they are written: ``@org/team``, ``@name`` or
an address."""


def declared(root: Path) -> OwnersOf | None:
    """What finds the owners of a file; None where no CODEOWNERS can be read.

    It reads from the disk: call it in a thread.

    Args:
        root: the working copy.
    """
    text = _text(root)
    if text is None:
        return None
    # Loaded late: few tools ask for owners.
    from codeowners import CodeOwners

    found = CodeOwners(
        "\n".join(each for each in text.splitlines()[:MAX_LINES] if _is_usable(each))
    )
    return lambda path: [name for _, name in found.of(path)]


def _is_usable(line: str) -> bool:
    """Whether a line is a pattern, or none, and is matched quickly."""
    from codeowners import CodeOwners

    if line.split("#")[0].count("*") > MAX_WILDCARDS:
        return False
    try:
        CodeOwners(line)
    except (ValueError, re.error):
        return False
    return True


def _text(root: Path) -> str | None:
    for place in PLACES:
        file = root / place
        linked = any(each.is_symlink() for each in (file, file.parent) if each != root)
        if linked or not file.is_file():
            continue
        try:
            with file.open("rb") as opened:
                data = opened.read(MAX_BYTES + 1)
        except OSError:
            return None
        return None if len(data) > MAX_BYTES else data.decode("utf-8", "replace")
    return None
