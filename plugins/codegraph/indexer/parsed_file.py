"""A file's facts, with what an index needs of them at once, as one value for the cache."""

from __future__ import annotations

import zlib
from functools import lru_cache
from posixpath import splitext

import msgspec

from plugins.codegraph.facts import FACTS_VERSION, FileFacts, decoded, encoded
from plugins.codegraph.languages.identifiers import with_words
from plugins.codegraph.languages.registry import language_of
from plugins.codegraph.languages.url_paths import with_url_paths
from plugins.codegraph.linker.digest import interface_digest

VERSION = FACTS_VERSION * 100 + 2
"""Also raised whenever :class:`ParsedFile` changes."""
COMPRESSION_LEVEL = 1


class ParsedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file's facts, with the most used parts decoded.

    Attributes:
        lines: the number of lines.
        problem: what could not be read.
        package: the package that it declares.
        interface: the interface digest (``linker/digest.py``), in hexadecimal.
        facts: all facts, as MessagePack.
    """

    lines: int
    problem: str
    package: str
    interface: str
    facts: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ParsedFile)


def reader_of(path: str) -> str:
    """The reader of a file: its language and file name ending, since some languages parse one text
    in two ways. "" for an unknown language."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _reader(f"x{name[dot:]}" if dot > 0 else name)


@lru_cache(1024)
def _reader(name: str) -> str:
    language = language_of(name)
    return "" if language is None else f"{language.name}{splitext(name)[1].lower()}"


def parse_file(path: str, data: bytes) -> ParsedFile:
    """Parse a file of a known language.

    Args:
        path: relative to the repository's root.
        data: its bytes.

    Raises:
        ValueError: the language is unknown.
    """
    language = language_of(path)
    if language is None:
        raise ValueError(f"{path} is of no known language")
    facts = with_url_paths(with_words(language.parse(path, data), data), data)
    interface = interface_digest(facts).hex()
    return ParsedFile(facts.lines, facts.problem, facts.package, interface, encoded(facts))


def packed(found: ParsedFile) -> bytes:
    """The stored form."""
    return zlib.compress(_encoder.encode(found), COMPRESSION_LEVEL)


def unpacked(data: bytes) -> ParsedFile:
    """The value from its stored form."""
    return _decoder.decode(zlib.decompress(data))


def facts_in(found: ParsedFile) -> FileFacts:
    """The decoded facts."""
    return decoded(found.facts)
