"""Which files are to be linked again after a change: those whose links may be others than before.

A file that depends on a changed one need not be, where it is known which names of that one mean
something else (``linker/changed_names.py``) and nothing that its links depend on says any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.indexer.dependencies import (
    Settings,
    changed_keys,
    changed_settings,
    unpacked,
)
from plugins.codegraph.indexer.facts_cache import FactsCache
from plugins.codegraph.indexer.parsed_file import facts_in
from plugins.codegraph.indexer.parsed_file import unpacked as parsed_in
from plugins.codegraph.indexer.snapshot import Known
from plugins.codegraph.linker.changed_names import changed_names
from plugins.codegraph.store.rows import Manifest

_FACTS = "f:"


@dataclass(slots=True)
class Invalidation:
    """Finds the files that a change has an effect on.

    Attributes:
        base: the state before, with its links loaded.
        known: the files after.
        cache: their facts, and those of before as far as they are kept.
    """

    base: BaseLayer
    known: Mapping[str, Known]
    cache: FactsCache
    _texts: dict[str, list[bytes] | None] = field(default_factory=dict)

    def affected(self, paths: Collection[str], manifests: Sequence[Manifest]) -> set[str]:
        """The files that may link differently, some of those that changed among them.

        Args:
            paths: the files that are new, changed or gone.
            manifests: the manifests after the change.
        """
        keys = changed_keys(self.base.known, self.known, paths)
        settings = changed_settings(self.base.links.manifests, manifests)
        if not keys and not settings:
            return set()
        names = {path: self._names(path) for path in paths if f"{_FACTS}{path}" in keys}
        told = {path: each for path, each in names.items() if each is not None}
        wide = keys - {f"{_FACTS}{path}" for path in told}
        found = self.base.dependents.affected(wide, settings)
        for path, each in told.items():
            near = self.base.dependents.affected([f"{_FACTS}{path}"], Settings())
            found |= {one for one in near - found if self._is_concerned(one, path, each)}
        return found

    def _names(self, path: str) -> frozenset[str] | None:
        """The names of a file that mean something else; None where any may."""
        before, after = self.base.known.get(path), self.known.get(path)
        old, new = self._facts(before), self._facts(after)
        return None if old is None or new is None else changed_names(old, new)

    def _facts(self, known: Known | None) -> FileFacts | None:
        data = None if known is None else self.cache.get((known.digest, known.reader))
        return None if data is None else facts_in(parsed_in(data))

    def _is_concerned(self, path: str, changed: str, names: Collection[str]) -> bool:
        """Whether a file, or one that its links depend on, says one of the names of another."""
        asked = unpacked(self.base.links.files[path].asked)
        read = {key.removeprefix(_FACTS) for key in asked if key.startswith(_FACTS)}
        wanted = [each.encode() for each in names]
        return any(self._says(each, wanted) for each in {path, *read} - {changed})

    def _says(self, path: str, names: Sequence[bytes]) -> bool:
        """Whether the facts of a file have one of some names in them, or are not to be had."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        texts = self._texts[path]
        return texts is None or any(name in text for text in texts for name in names)

    def _read(self, path: str) -> list[bytes] | None:
        """The facts of a file before and after, encoded; None where they are not kept."""
        both = {self.base.known.get(path), self.known.get(path)} - {None}
        found = [self.cache.get((each.digest, each.reader)) for each in both if each is not None]
        texts = [parsed_in(data).facts for data in found if data is not None]
        return texts if len(texts) == len(found) else None
