"""The texts that the embedding model reads of an entity: two short ones, whose vectors are
averaged.

The head is its name and documentation; the words are those of its code, each once. One text with
both finds less (``benchmarks/codegraph_search.py``): the model reads 256 tokens and treats a
signature's brackets as content, so a long body drowns out what the entity is.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from posixpath import basename, dirname, splitext

from plugins.codegraph.model import Entity
from plugins.codegraph.store.name_split import split

HEAD, WORDS = 500, 600
"""The most characters of each of the two texts."""
_DOC = 400
_PARTS = re.compile(r"::|[.#/]")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PACKAGE_FILES = frozenset({"__init__", "__main__", "index", "mod", "lib", "main"})
"""File names without meaning; the folder's name is used instead."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that are embedded for one entity."""

    head: str
    words: str

    @property
    def digest(self) -> str:
        """A digest of the texts."""
        return hashlib.sha256(f"{self.head}\0{self.words}".encode()).hexdigest()[:20]


def texts_of(entity: Entity, source: str) -> Texts:
    """The texts of an entity.

    Args:
        entity: the entity.
        source: its code.
    """
    *around, name = _PARTS.split(entity.qualified)
    words = " ".join(split(name)) or name
    place = " ".join(word for part in (*around, _module(entity.path)) for word in split(part))
    doc = " ".join(entity.doc.split())[:_DOC]
    return Texts(_clean(f"{words}. {place}. {doc}")[:HEAD], _code_words(entity, source)[:WORDS])


def _code_words(entity: Entity, source: str) -> str:
    """The words of the code, each once, in order, without the documentation (see the head)."""
    found: dict[str, None] = {}
    length = 0
    for identifier in _IDENTIFIER.findall(_undocumented(entity, source)):
        for word in split(identifier):
            if word not in found:
                found[word] = None
                length += len(word) + 1
        if length > WORDS:
            break
    return _clean(" ".join(found))


def _undocumented(entity: Entity, source: str) -> str:
    """The code without its docstring, which is located by its first line."""
    first = next((line.strip() for line in entity.doc.splitlines() if line.strip()), "")
    start = source.find(first) if first else -1
    if start < 0:
        return source
    for quotes in ('"""', "'''"):
        opened = source.rfind(quotes, 0, start)
        closed = source.find(quotes, start)
        if 0 <= opened < start <= closed and start - opened < 40:
            return source[:opened] + source[closed + 3 :]
    return source


def _module(path: str) -> str:
    stem = splitext(basename(path))[0]
    return basename(dirname(path)) if stem in _PACKAGE_FILES else stem


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
