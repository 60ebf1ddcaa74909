"""What a file says, with what an index needs of it at once, as one value for the cache."""

from __future__ import annotations

import zlib
from functools import lru_cache
from posixpath import splitext

import msgspec

from plugins.codegraph.facts import FACTS_VERSION, FileFacts, decoded, encoded
from plugins.codegraph.languages.identifiers import packed as packed_words
from plugins.codegraph.languages.identifiers import words_of
from plugins.codegraph.languages.registry import language_of
from plugins.codegraph.linker.digest import interface_digest

VERSION = FACTS_VERSION * 100 + 2
"""Raised also whenever :class:`ParsedFile` changes."""
COMPRESSION_LEVEL = 1


class ParsedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file's facts, and what is asked of them most.

    Attributes:
        lines: how many it has.
        problem: what could not be read.
        package: the package that it declares.
        interface: the digest of what others can see of it, as hexadecimal digits.
        facts: all of it, as MessagePack.
    """

    lines: int
    problem: str
    package: str
    interface: str
    facts: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ParsedFile)


def reader_of(path: str) -> str:
    """What reads a file: the language with the ending, since some read one text in two ways.

    Empty where no language reads such files.
    """
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _reader(f"x{name[dot:]}" if dot > 0 else name)


@lru_cache(1024)
def _reader(name: str) -> str:
    language = language_of(name)
    return "" if language is None else f"{language.name}{splitext(name)[1].lower()}"


def parse_file(path: str, data: bytes) -> ParsedFile:
    """What a file of a known language says.

    Args:
        path: from the repository's root.
        data: its bytes.
    """
    language = language_of(path)
    if language is None:
        raise ValueError(f"{path} is of no known language")
    facts = language.parse(path, data)
    words = packed_words(words_of(language.name, data))
    facts = msgspec.structs.replace(facts, words=words)
    interface = interface_digest(facts).hex()
    return ParsedFile(facts.lines, facts.problem, facts.package, interface, encoded(facts))


def packed(found: ParsedFile) -> bytes:
    """What is kept of it."""
    return zlib.compress(_encoder.encode(found), COMPRESSION_LEVEL)


def unpacked(data: bytes) -> ParsedFile:
    """What was kept."""
    return _decoder.decode(zlib.decompress(data))


def facts_in(found: ParsedFile) -> FileFacts:
    """The facts themselves."""
    return decoded(found.facts)
