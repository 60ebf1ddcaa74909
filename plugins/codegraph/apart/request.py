"""What a process of its own is asked, and how it answers.

Over its pipes go frames: four bytes of length, one byte that says what it is, and MessagePack.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from plugins.codegraph.store.graph import RepositoryView

RESULT, FAILED, END = b"r", b"x", b"e"


class Request(msgspec.Struct, frozen=True):
    """A question about a repository's whole graph.

    Attributes:
        what: ``rules`` for what its code is for, ``health`` for how healthy it is.
        database: the address of the database, with its password: it goes over a pipe alone.
        view: the repository, as it is served.
        root: its files, "" where they are not at hand.
    """

    what: Literal["rules", "health"]
    database: str
    view: RepositoryView
    root: str = ""


def frame(kind: bytes, data: bytes = b"") -> bytes:
    """One frame."""
    return (len(data) + 1).to_bytes(4, "big") + kind + data
