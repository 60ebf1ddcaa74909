"""Removes secrets from a note before anything else sees it: only the text without them is parsed,
stored, indexed and embedded.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.contract import ContentScrub
from plugins.knowledge.notes.frontmatter import Problem

TAKEN_OUT = ": taken out; have it replaced"
"""What a problem's reason says after the kind of secret."""


def clean(
    data: bytes, path: str, scrub: ContentScrub, source: str
) -> tuple[bytes, Sequence[Problem]]:
    """A note's bytes without secrets, and what was taken out, for the admin; lines stay as many.

    Args:
        data: the bytes, as the source holds them.
        path: the document's.
        scrub: takes them out.
        source: as the settings name it.
    """
    cleaned, found = scrub.file(data, source, path)
    return cleaned, [
        Problem(path, each.line or 1, each.kind + TAKEN_OUT, "secret")
        for each in dict.fromkeys(found)
    ]
