"""One state of a repository's files, as given to the workers that link it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from plugins.codegraph.store.rows import Manifest


class Known(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file of a known language.

    Attributes:
        digest: the digest of its bytes.
        reader: its reader (``parsed_file.reader_of``).
        language: the language's name.
        package: the package that it declares, or "".
        interface: its interface digest (``linker/digest.py``).
    """

    digest: str
    reader: str
    language: str
    package: str
    interface: str


class Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """Everything that linking depends on.

    Attributes:
        repo: the repository's id.
        cache: the facts cache file.
        files: the files of known languages, by path.
        manifests: the manifests, by path.
    """

    repo: str
    cache: str
    files: dict[str, Known]
    manifests: list[Manifest]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Snapshot)


def write(snapshot: Snapshot, file: Path) -> None:
    """Write a snapshot atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.write_bytes(_encoder.encode(snapshot))
    partial.replace(file)


def load(file: Path) -> Snapshot:
    """Read a snapshot."""
    return _decoder.decode(file.read_bytes())


def keys_of(files: Iterable[Known]) -> set[tuple[str, str]]:
    """The cache keys of the facts of some files."""
    return {(each.digest, each.reader) for each in files}
