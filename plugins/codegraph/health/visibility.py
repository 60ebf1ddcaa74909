"""Who outside of a repository may use what it exports."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from posixpath import basename, dirname, normpath
from typing import Any

import numpy as np

from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.model import EdgeKind, Entity
from plugins.codegraph.store.codes import EDGE_CODES
from plugins.codegraph.tools.hidden_uses import LOADS, SCRIPTS

_WORD = re.compile(rb"[^\W\d][\w$]*")
_DATA = frozenset(
    {"yaml", "toml", "json", "ini", "html", "template", "vue", "svelte", "xml", "dockerfile"}
    | {"make", "shell", "graphql", "sql", "cmake", "groovy"}
)
"""Languages in whose files a name can be that something looks up when the program runs."""
_ALL = re.compile(rb"__all__\s*(?::[^=\n]+)?\+?=\s*[\[(]([^\])]*)[\])]")
_STAR = re.compile(rb"\s*export\s+(?:type\s+)?\*")
_IMPORTS = EDGE_CODES[EdgeKind.IMPORTS]
_ENTRIES = ("main", "module", "types", "typings", "browser", "bin", "exports")
"""What names the files of an npm package that others load."""


class Outside:
    """What other repositories and other kinds of files may use of a repository.

    Args:
        code: the repository.
    """

    def __init__(self, code: CodeBase) -> None:
        self._code = code

    def may_use(self, entity: Entity) -> bool:
        """Whether a program outside of the repository may import an entity.

        In Python that is every public name of a package that is built to be installed; in
        TypeScript and JavaScript what the files that ``package.json`` names export; in Go and
        Rust and Java whatever the language exports, where it is a library.
        """
        if not entity.exported:
            return False
        if entity.language == "python":
            offered = not is_private(entity) or entity.name in self._listed
            return offered and self._is_built(entity.path)
        if entity.language in SCRIPTS:
            return entity.path in self._entry_files or entity.path in self._loaded
        if entity.language == "go":
            parts = entity.path.split("/")
            return "internal" not in parts and "main" not in parts and "cmd" not in parts
        return True

    @cached_property
    def named_in_data(self) -> frozenset[str]:
        """The words in configurations, templates, scripts and manifests."""
        found: set[bytes] = set()
        for report in self._code.layer.reports:
            if report.language in _DATA:
                found.update(_WORD.findall(self._code.text(report.path)))
        for path in self._named("setup.py"):
            found.update(_WORD.findall(self._code.text(path)))
        return frozenset(each.decode("utf-8", "replace") for each in found)

    @cached_property
    def _listed(self) -> frozenset[str]:
        """The names in every ``__all__`` of Python: a public module may pass on a private one's."""
        files = [each.path for each in self._code.layer.reports if each.language == "python"]
        listed = (names for path in files for names in _ALL.findall(self._code.text(path)))
        found = {name for names in listed for name in _WORD.findall(names)}
        return frozenset(each.decode("utf-8", "replace") for each in found)

    @cached_property
    def _loaded(self) -> frozenset[str]:
        """The files that scripts load when they run, and may use in ways that nobody sees."""
        code, found = self._code, set[str]()
        for edge in np.flatnonzero(code.kind == _IMPORTS).tolist():
            here = code.entities[int(code.source[edge])]
            if here.language in SCRIPTS:
                lines = code.text(here.path).split(b"\n")
                if LOADS.search(lines[min(int(code.line[edge]), len(lines)) - 1]):
                    found.add(code.entities[int(code.target[edge])].path)
        return frozenset(found)

    def _named(self, *names: str) -> list[str]:
        """The files of some names."""
        return [path for path in self._code.reports if basename(path) in names]

    def _is_built(self, path: str) -> bool:
        """Whether a Python file belongs to a project that others install."""
        return any(not root or path.startswith(f"{root}/") for root in self._built)

    @cached_property
    def _built(self) -> frozenset[str]:
        """The directories of the Python projects that others install."""
        roots = set()
        for path in self._named("setup.py", "setup.cfg", "pyproject.toml"):
            text = self._code.text(path)
            if _is_published(text) if path.endswith(".toml") else b"name" in text:
                roots.add(dirname(path))
        typed = (path for path in self._code.reports if basename(path) == "py.typed")
        return frozenset([*roots, *map(dirname, typed)])

    @cached_property
    def _entry_files(self) -> frozenset[str]:
        """The files that npm packages show to others."""
        found: set[str] = set()
        for path in self._named("package.json"):
            manifest = _json(self._code.text(path))
            root = dirname(path)
            named = [each for key in _ENTRIES for each in _strings(manifest.get(key))]
            if not named and not manifest.get("private"):
                named = ["index.js"]
            found |= self._sources(root, named)
        todo = list(found)
        while todo:
            new = self._passed_on(todo.pop()) - found
            found |= new
            todo += new
        return frozenset(found)

    def _passed_on(self, path: str) -> set[str]:
        """The files all of whose exports a file exports too: ``export * from``."""
        code, lines = self._code, self._code.text(path).split(b"\n")
        whole = code.by_path[path][0]
        edges = np.flatnonzero((code.source == whole) & (code.kind == _IMPORTS)).tolist()
        return {
            code.entities[int(code.target[edge])].path
            for edge in edges
            if _STAR.match(lines[min(int(code.line[edge]), len(lines)) - 1])
        }

    def _sources(self, root: str, named: list[str]) -> set[str]:
        """The files of the repository that entries stand for: ``dist/esm/web/a.js`` is made of
        ``src/web/a.ts``, and perhaps another ``a.ts``."""
        entries = [_stem(normpath(each)).split("/") for each in named]
        ends = {"/".join(parts[at:]) for parts in entries for at in range(len(parts))}
        patterns = [each for each in ends if "*" in each and each[0] != "*"]
        found = set()
        for path in self._code.by_path:
            inner = _stem(path.removeprefix(f"{root}/")) if root else _stem(path)
            short = inner.removeprefix("src/").removeprefix("lib/")
            if {inner, short} & ends or any(fnmatchcase(short, each) for each in patterns):
                found.add(path)
        return found


def _stem(path: str) -> str:
    return re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", path)


def _strings(value: Any) -> list[str]:
    """All texts in a value of ``exports``."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in _strings(each)]


def _json(text: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_published(text: bytes) -> bool:
    """Whether a ``pyproject.toml`` describes a package that others install."""
    try:
        found = tomllib.loads(text.decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return True
    project = found.get("project") or found.get("tool", {}).get("poetry")
    if not isinstance(project, dict) or "build-system" not in found:
        return False
    private = any("Private" in str(each) for each in project.get("classifiers", ()))
    return not private and project.get("package-mode") is not False


def is_private(entity: Entity) -> bool:
    """Whether a part of an entity's name or module begins with an underscore."""
    parts = [*entity.path.removesuffix(".py").split("/"), *entity.qualified.split(".")]
    return any(each.startswith("_") and not each.startswith("__") for each in parts)
