"""What linking each file depended on, and which files must be linked again after a change.

A key names a dependency (``linker/linker.py``): ``f:path`` a file's facts, ``e:path`` whether it
exists, ``d:directory`` its files, ``p:language:package`` a package's files, ``m:pattern`` the
manifests of a name, ``r:path`` the bytes of one. Lookups that found nothing are recorded too.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from posixpath import basename, dirname

import msgspec

from plugins.codegraph.indexer.snapshot import Known
from plugins.codegraph.store.rows import Manifest

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[str])


def packed(keys: Iterable[str]) -> bytes:
    """Keys in their stored form."""
    return zlib.compress(_encoder.encode(sorted(keys)), 1)


def unpacked(data: bytes) -> list[str]:
    """The keys from their stored form."""
    return _decoder.decode(zlib.decompress(data)) if data else []


def changed_keys(
    old: Mapping[str, Known], new: Mapping[str, Known], paths: Iterable[str]
) -> set[str]:
    """The dependency keys whose answers differ between two states.

    Args:
        old: the files before, by path.
        new: the files after.
        paths: the paths that may differ.
    """
    keys: set[str] = set()
    for path in paths:
        before, after = old.get(path), new.get(path)
        if before is None and after is None:
            continue
        if before is None or after is None:
            keys |= {f"f:{path}", f"e:{path}", f"d:{dirname(path)}"}
        elif before.interface != after.interface:
            keys.add(f"f:{path}")
        packages = {_package(before), _package(after)}
        if len(packages) > 1:
            keys |= packages - {""}
    return keys


def changed_settings(old: Collection[Manifest], new: Collection[Manifest]) -> Settings:
    """The difference between two sets of manifests."""
    before = {each.path: each.digest for each in old}
    after = {each.path: each.digest for each in new}
    differing = {path for path in before.keys() | after if before.get(path) != after.get(path)}
    listed = {basename(path) for path in before.keys() ^ after.keys()}
    return Settings(frozenset(f"r:{path}" for path in differing), frozenset(listed))


class Settings(msgspec.Struct, frozen=True):
    """Manifests that have changed.

    Attributes:
        keys: the dependency keys of their bytes.
        names: the file names of those added or removed.
    """

    keys: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.keys)


class DependencyIndex:
    """Finds the files that depend on something.

    Args:
        asked: the packed dependency keys of each file, by path.
    """

    def __init__(self, asked: Mapping[str, bytes]) -> None:
        self._paths: dict[str, set[str]] = {}
        for path, data in asked.items():
            self.add(path, data)

    def add(self, path: str, asked: bytes) -> None:
        """Add the dependencies of a file, packed."""
        for key in unpacked(asked):
            self._paths.setdefault(key, set()).add(path)

    def remove(self, path: str, asked: bytes) -> None:
        """Remove the dependencies of a file, packed."""
        for key in unpacked(asked):
            paths = self._paths[key]
            paths.discard(path)
            if not paths:
                del self._paths[key]

    def affected(self, keys: Collection[str], settings: Settings) -> set[str]:
        """The files that depend on something that has changed.

        Args:
            keys: the changed dependency keys.
            settings: the changed manifests.
        """
        wanted = {*keys, *settings.keys}
        if settings.names:
            wanted.update(key for key in self._paths if _names(key, settings.names))
        return {path for key in wanted for path in self._paths.get(key, ())}


def _names(key: str, names: Collection[str]) -> bool:
    """Whether a dependency key asks for manifests and its pattern matches any of these names."""
    return key.startswith("m:") and any(fnmatchcase(name, key[2:]) for name in names)


def _package(known: Known | None) -> str:
    return f"p:{known.language}:{known.package}" if known is not None and known.package else ""
