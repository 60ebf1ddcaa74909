"""What the parts of the linker share: the repository, the answers so far, the files at hand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from plugins.codegraph.facts import FileFacts, Import
from plugins.codegraph.languages.registry import language_named
from plugins.codegraph.linking.rules import Rules, Target
from plugins.codegraph.linking.sheet import Sheet
from plugins.codegraph.linking.solver import Solver
from plugins.codegraph.linking.world import World

HELD_LINES = 150_000
"""Files of so many lines together are held as read; older ones are decoded again when needed."""


class Recorded:
    """A world that notes in a solver what it is asked for.

    Args:
        world: the repository.
        solver: what notes.
    """

    def __init__(self, world: World, solver: Solver) -> None:
        self._world = world
        self._solver = solver

    @property
    def repo(self) -> str:
        """The repository's id."""
        return self._world.repo

    def facts(self, path: str) -> FileFacts | None:
        """What a file says."""
        self._solver.top.deps.add(f"f:{path}")
        return self._world.facts(path)

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        self._solver.top.deps.add(f"e:{path}")
        return self._world.exists(path)

    def directory(self, path: str) -> Sequence[str]:
        """The files directly in a directory."""
        self._solver.top.deps.add(f"d:{path}")
        return self._world.directory(path)

    def packaged(self, language: str, package: str) -> Sequence[str]:
        """The files that declare a package."""
        self._solver.top.deps.add(f"p:{language}:{package}")
        return self._world.packaged(language, package)

    def manifests(self, name: str) -> Sequence[str]:
        """The manifests with this name or pattern."""
        self._solver.top.deps.add(f"m:{name}")
        return self._world.manifests(name)

    def read(self, path: str) -> bytes | None:
        """The bytes of a manifest."""
        self._solver.top.deps.add(f"r:{path}")
        return self._world.read(path)

    def once(self, key: Hashable, work: Callable[..., Any], *args: Any) -> Any:
        """Work something out once, with what it looks at noted for everyone who asks."""
        return self._solver.solve(("once", key), work, *args)


class Engine:
    """One repository's answers.

    Args:
        world: the repository.
    """

    def __init__(self, world: World) -> None:
        self.solver = Solver()
        self.solve = self.solver.solve
        self.world = Recorded(world, self.solver)
        self._raw = world
        self._sheets: OrderedDict[str, Sheet | None] = OrderedDict()
        self._lines = 0
        self._rules: dict[str, Rules] = {}

    def sheet(self, path: str) -> Sheet | None:
        """A file's index, or None where there is no such file."""
        self.solver.top.deps.add(f"f:{path}")
        if path in self._sheets:
            self._sheets.move_to_end(path)
            return self._sheets[path]
        facts = self._raw.facts(path)
        sheet = None if facts is None else self._indexed(path, facts)
        self._sheets[path] = sheet
        self._lines += 0 if facts is None else facts.lines
        while self._lines > HELD_LINES and len(self._sheets) > 1:
            _, dropped = self._sheets.popitem(last=False)
            self._lines -= 0 if dropped is None else dropped.facts.lines
        return sheet

    def _indexed(self, path: str, facts: FileFacts) -> Sheet | None:
        rules = self._rules.get(facts.language)
        if rules is None:
            language = language_named(facts.language)
            if language is None:
                return None
            rules = language.rules(self.world)
            self._rules[facts.language] = rules
        return Sheet(path, facts, rules)

    def there(self, path: str) -> Sheet:
        """The index of a file that is known to exist."""
        sheet = self.sheet(path)
        if sheet is None:
            raise LookupError(f"{path} was in the repository and is no more")
        return sheet

    def target(self, sheet: Sheet, imported: Import) -> Target:
        """The module that an import names."""
        key = ("i", sheet.path, imported.module, imported.level)
        found: Target = self.solve(key, sheet.rules.module, sheet.path, imported)
        return found
