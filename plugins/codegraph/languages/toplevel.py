"""Which files of a package define a name at their top level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plugins.codegraph.languages.source_view import SourceView


def top_level(view: SourceView, files: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """By top-level name, the files that define it, in the given order.

    Args:
        view: the repository.
        files: the paths of a package's files.
    """
    found: dict[str, list[str]] = {}
    for path in files:
        facts = view.facts(path)
        names = [] if facts is None else [d.name for d in facts.definitions if d.parent < 0]
        for name in dict.fromkeys(names):
            found.setdefault(name, []).append(path)
    return found
