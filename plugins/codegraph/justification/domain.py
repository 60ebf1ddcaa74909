"""The words of a repository's own domain, and what its modules make of imported things."""

from __future__ import annotations

from collections import Counter

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.imports import Binding
from plugins.codegraph.justification.places import Places
from plugins.codegraph.justification.words import GENERIC, singular, words
from plugins.codegraph.model import EntityKind

_EVERYWHERE = 0.3
"""The share of files that makes a technology the subject of a repository."""
MAX_PARTS = 12
"""The parts of a route that are looked at."""


class Domain:
    """What the code is about.

    Args:
        columns: the graph.
        places: what the paths say.
    """

    def __init__(self, columns: Columns, places: Places) -> None:
        self._columns, self._places = columns, places
        self._own = _own_modules(columns)
        self._external: dict[tuple[str, str], str | None] = {}
        self._instances = self._made()
        self.labels: dict[str, str] = {}
        self._name_things()
        self.usual = self._everywhere()
        self._public = self._exported()

    def is_public(self, path: str, name: str) -> bool:
        """Whether a package gives a name of one of its files to everybody who imports it."""
        return (path.rpartition("/")[2].split(".")[0], name) in self._public

    def noun_of(self, name: str) -> str:
        """The thing of the domain that a name has in it, or ""."""
        for word in reversed(words(name)):
            if (found := singular(word)) in self.labels:
                return found
        return ""

    def label(self, word: str) -> str:
        """What a feature of a word is called."""
        return self.labels.get(singular(word), word.replace("_", " ").replace("-", " "))

    def technology(self, binding: Binding) -> str:
        """The technology that an imported name stands for, or ""."""
        thing = binding.module, binding.name
        if thing not in self._external:
            whole = f"{binding.module}.{binding.name}" if binding.name else binding.module
            own = self._is_own(binding.module)
            self._external[thing] = None if own else technologies.of_module(whole) or ""
        found = self._external[thing]
        return self._instances.get(binding.name or binding.local, "") if found is None else found

    def of_route(self, template: str) -> str:
        """The thing that a route is about: the first telling part of its path, or ""."""
        for part in template.strip("/").split("/")[:MAX_PARTS]:
            name = part.split(".")[0].lower()
            if name and "*" not in name and name not in GENERIC and name[0] != "{":
                return name.replace("-", "_")
        return ""

    def _is_own(self, module: str) -> bool:
        return module.startswith((".", "@/", "~/")) or module.split(".")[0] in self._own

    def _everywhere(self) -> frozenset[str]:
        """Technologies that many files use: they are what the code is about, not beneath it."""
        counts: Counter[str] = Counter()
        for file in self._columns.files.values():
            counts.update({self.technology(each) for each in file.bindings} - {""})
        least = max(3, _EVERYWHERE * len(self._columns.files))
        return frozenset(tech for tech, count in counts.items() if count >= least)

    def _exported(self) -> frozenset[tuple[str, str]]:
        """What packages import to give it on: (name of the file, name)."""
        found: set[tuple[str, str]] = set()
        for path, file in self._columns.files.items():
            if path.rpartition("/")[2].split(".")[0] in ("__init__", "index"):
                for each in file.bindings:
                    if self._is_own(each.module) and each.name:
                        stem = each.module.replace("/", ".").rpartition(".")[2]
                        found.add((stem, each.name))
        return frozenset(found)

    def _made(self) -> dict[str, str]:
        """Names that a module gives to what an imported thing makes, such as ``db``."""
        found: dict[str, str] = {}
        for file in self._columns.files.values():
            for name, number in file.instances:
                binding = file.bindings[number]
                if not self._is_own(binding.module):
                    whole = f"{binding.module}.{binding.name}".rstrip(".")
                    tech = technologies.of_module(whole)
                    if tech:
                        found.setdefault(name, tech)
        return found

    def _name_things(self) -> None:
        """Collect the things: what is stored or modelled, and what routes are about."""
        counts: Counter[str] = Counter()
        for at, entity in enumerate(self._columns.entities):
            if entity.kind in (EntityKind.CLASS, EntityKind.INTERFACE) and not entity.test:
                counts.update(self._of_class(at))
        ends = (end for served in self._columns.routes.values() for end in served)
        counts.update(filter(None, (self.of_route(end.template) for end in ends)))
        forms: dict[str, Counter[str]] = {}
        for word, count in counts.items():
            if _is_telling(word):
                forms.setdefault(singular(word), Counter())[word] += count
        for key, seen in forms.items():
            word = max(seen, key=lambda each: (each != key, seen[each], each))
            self.labels[key] = word.replace("_", " ")

    def _of_class(self, at: int) -> list[str]:
        """The thing that a class stands for, twice where it is stored; often none."""
        entity = self._columns.entities[at]
        modelled, own = self._places.of(entity.path).modelled, words(entity.name)
        if own and len(own) <= 2 and self._stored(at):
            return [own[-1]] * 2
        return [own[0]] if modelled and len(own) == 1 else []

    def _stored(self, at: int) -> bool:
        entity, bases = self._columns.entities[at], self._columns.signals[at].bases
        file = self._columns.files.get(entity.path)
        if file is None:
            return False
        locals_ = {each.local: each for each in file.bindings}
        heads = (locals_.get(base.split(".")[0]) for base in bases)
        return any(each and self.technology(each) == technologies.DATABASE for each in heads)


def _is_telling(word: str) -> bool:
    """Whether a word can be a thing of a domain: not one of every project, nor a technology."""
    key = singular(word)
    if word in technologies.BY_WORD or key in technologies.BY_WORD:
        return False
    return len(key) > 2 and key not in GENERIC and word not in GENERIC


def _own_modules(columns: Columns) -> frozenset[str]:
    """The names by which the repository's own packages are imported."""
    found: set[str] = set()
    for path in columns.paths:
        parts = path.split("/")
        found.add(parts[0].split(".")[0])
        if parts[0] in ("src", "lib") and len(parts) > 1:
            found.add(parts[1].split(".")[0])
    found -= {"src", "lib", "", "tests", "test", "docs"}
    return frozenset(found)
