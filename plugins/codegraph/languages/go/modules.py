"""Go's modules: the directory that an import path refers to, by ``go.mod`` and ``go.work``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.languages.source_view import SourceView

_COMMENT = re.compile(r"//.*")
_MODULE = re.compile(r"^\s*module\s+(\S+)", re.MULTILINE)
_REPLACE = re.compile(r"(\S+)(?:\s+v\S+)?\s*=>\s*(\.{1,2}(?:/\S*)?)\s*$", re.MULTILINE)
_USE = re.compile(r"^\s*use\s+(?:\(([^)]*)\)|(\S+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Module:
    """One ``go.mod``: the module's path, its directory, and its ``replace`` directives that point
    to directories."""

    path: str
    root: str
    replaced: dict[str, str] = field(default_factory=dict)


class Modules:
    """The modules of a repository.

    Args:
        view: the repository.
    """

    def __init__(self, view: SourceView) -> None:
        self._view = view
        self.all = [m for path in view.manifests("go.mod") if (m := self._read(path)) is not None]
        self.workspaces = [self._work(path) for path in view.manifests("go.work")]

    def packages(self) -> Sequence[Package]:
        """The modules as packages."""
        used = {root for roots in self.workspaces for root in roots}
        return [
            Package(m.path, m.root, "go", "go.work" if m.root in used else "") for m in self.all
        ]

    def directory(self, path: str, imported: str) -> str | None:
        """The directory of the package that the file at ``path`` imports; None if it is outside of
        the repository."""
        home = self._home(path)
        if home is not None:
            for name, root in home.replaced.items():
                if _under(imported, name):
                    return _joined(root, imported[len(name) + 1 :])
        found: Module | None = None
        for module in self.all:
            if _under(imported, module.path) and (not found or len(module.path) > len(found.path)):
                found = module
        return None if found is None else _joined(found.root, imported[len(found.path) + 1 :])

    def _home(self, path: str) -> Module | None:
        inside = [m for m in self.all if not m.root or path.startswith(f"{m.root}/")]
        return max(inside, key=lambda m: len(m.root), default=None)

    def _read(self, path: str) -> Module | None:
        text = self._text(path)
        named = _MODULE.search(text)
        if named is None:
            return None
        root = dirname(path)
        replaced = {name.strip('"'): _joined(root, to) for name, to in _REPLACE.findall(text)}
        return Module(named.group(1).strip('"'), root, replaced)

    def _work(self, path: str) -> list[str]:
        text, root = self._text(path), dirname(path)
        used = [word for group, one in _USE.findall(text) for word in (group or one).split()]
        return [_joined(root, each.strip('"')) for each in used]

    def _text(self, path: str) -> str:
        data = self._view.read(path) or b""
        return _COMMENT.sub("", data.decode("utf-8", "replace"))


def _under(imported: str, module: str) -> bool:
    return imported == module or imported.startswith(f"{module}/")


def _joined(root: str, rest: str) -> str:
    found = normpath(join(root, rest)) if root or rest else ""
    return "" if found == "." else found


def packages(view: SourceView) -> Sequence[Package]:
    """The modules of a repository."""
    return Modules(view).packages()
