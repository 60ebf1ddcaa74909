"""Takes secrets out of a note before anything else sees it: what is parsed, kept, indexed and
embedded is the text without them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.contract import ContentScrub, Redaction
from plugins.knowledge.notes.frontmatter import Problem

_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$", re.M | re.S)
TAKEN = ": taken out; have it replaced"
"""What a problem's reason says after the kind of secret."""
_PLAIN = b"REDACTED"
"""The mark in YAML, where a bracket begins a list and a colon a mapping."""


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
    cleaned, found = scrub.data(data, source, path)
    if not found:
        return data, ()
    return _FRONT.sub(lambda front: _plain(front[0], found), cleaned), [
        Problem(path, each.line or 1, each.kind + TAKEN, "secret") for each in dict.fromkeys(found)
    ]


def _plain(front: bytes, found: Sequence[Redaction]) -> bytes:
    for mark in {f"[REDACTED: {each.kind}]".encode() for each in found}:
        front = front.replace(mark, _PLAIN)
    return front
