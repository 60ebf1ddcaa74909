"""The state that all parts of the linker share: the repository, the solver, the loaded files."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from plugins.codegraph.facts import FileFacts, Import
from plugins.codegraph.languages.registry import language_named
from plugins.codegraph.languages.rules import Rules, Target
from plugins.codegraph.languages.source_view import SourceView
from plugins.codegraph.linker.file_index import FileIndex
from plugins.codegraph.linker.solver import Solver

INDEX_CACHE_LINES = 150_000
"""File indexes are cached up to this total of source lines; least recently used ones go first."""


class Recorded:
    """A ``SourceView`` that records each access as a dependency of the open question.

    Args:
        view: the repository.
        solver: records the dependencies.
    """

    def __init__(self, view: SourceView, solver: Solver) -> None:
        self._view = view
        self._solver = solver

    @property
    def repo(self) -> str:
        """The repository's id."""
        return self._view.repo

    def facts(self, path: str) -> FileFacts | None:
        """The facts of a file, or None where there is no such file."""
        self._solver.top.deps.add(f"f:{path}")
        return self._view.facts(path)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        self._solver.top.deps.add(f"e:{path}")
        return self._view.exists(path)

    def directory(self, path: str) -> Sequence[str]:
        """The files directly in a directory."""
        self._solver.top.deps.add(f"d:{path}")
        return self._view.directory(path)

    def packaged(self, language: str, package: str) -> Sequence[str]:
        """The files that declare a package."""
        self._solver.top.deps.add(f"p:{language}:{package}")
        return self._view.packaged(language, package)

    def manifests(self, name: str) -> Sequence[str]:
        """The manifests with this name or pattern."""
        self._solver.top.deps.add(f"m:{name}")
        return self._view.manifests(name)

    def read(self, path: str) -> bytes | None:
        """The bytes of a manifest."""
        self._solver.top.deps.add(f"r:{path}")
        return self._view.read(path)

    def once(self, key: Hashable, work: Callable[..., Any], *args: Any) -> Any:
        """Compute a value once; its dependencies are recorded for every question that uses it."""
        return self._solver.solve(("once", key), work, *args)


class Engine:
    """Answers the linker's questions about one repository, and caches the answers.

    Args:
        view: the repository.
    """

    def __init__(self, view: SourceView) -> None:
        self.solver = Solver()
        self.solve = self.solver.solve
        self.view = Recorded(view, self.solver)
        self._raw = view
        self._indexes: OrderedDict[str, FileIndex | None] = OrderedDict()
        self._lines = 0
        self._rules: dict[str, Rules] = {}

    def index(self, path: str) -> FileIndex | None:
        """The index of a file, or None where there is no such file or its language is unknown."""
        self.solver.top.deps.add(f"f:{path}")
        if path in self._indexes:
            self._indexes.move_to_end(path)
            return self._indexes[path]
        facts = self._raw.facts(path)
        index = None if facts is None else self._indexed(path, facts)
        self._indexes[path] = index
        self._lines += 0 if facts is None else facts.lines
        while self._lines > INDEX_CACHE_LINES and len(self._indexes) > 1:
            _, dropped = self._indexes.popitem(last=False)
            self._lines -= 0 if dropped is None else dropped.facts.lines
        return index

    def _indexed(self, path: str, facts: FileFacts) -> FileIndex | None:
        rules = self._rules.get(facts.language)
        if rules is None:
            language = language_named(facts.language)
            if language is None:
                return None
            rules = language.rules(self.view)
            self._rules[facts.language] = rules
        return FileIndex(path, facts, rules)

    def there(self, path: str) -> FileIndex:
        """The index of a file that is known to exist.

        Raises:
            LookupError: the file has disappeared from the repository.
        """
        index = self.index(path)
        if index is None:
            raise LookupError(f"{path} was in the repository and is no more")
        return index

    def target(self, index: FileIndex, imported: Import) -> Target:
        """The module that an import refers to."""
        key = ("i", index.path, imported.module, imported.level)
        found: Target = self.solve(key, index.rules.module, index.path, imported)
        return found
