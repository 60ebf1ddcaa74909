"""What rules on one entity need to know of the whole repository around it.

It is put together from the whole graph, and kept, so that a part can be judged without the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Outline(msgspec.Struct, frozen=True, array_like=True):
    """A repository in outline.

    Attributes:
        around: folders that most of the code is in.
        packages: the names by which its own packages are imported.
        instances: the technology behind names that modules give to what an imported thing makes,
            such as ``db``.
        things: the things of its domain: what each is called, by its word in the singular.
        usual: technologies that many files use: they are what the code is about, not beneath it.
        public: what packages import to give it on: (name of the file, name).
        features: the features that more than one entity is part of.
    """

    around: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    instances: Mapping[str, str] = {}
    things: Mapping[str, str] = {}
    usual: frozenset[str] = frozenset()
    public: frozenset[tuple[str, str]] = frozenset()
    features: frozenset[str] = frozenset()


def packed(outline: Outline) -> bytes:
    """An outline in its stored form."""
    return msgspec.msgpack.encode(outline)


def unpacked(data: bytes) -> Outline:
    """An outline from its stored form."""
    return msgspec.msgpack.decode(data, type=Outline)
