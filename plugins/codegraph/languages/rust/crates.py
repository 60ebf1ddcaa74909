"""Cargo's crates: their root files, and the names that they use for each other."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any

from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.languages.source_view import SourceView

Table = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Crate:
    """One package of Cargo.

    Attributes:
        name: the package's name in ``Cargo.toml``.
        root: its directory.
        library: the name of its library in code, or "" for none.
        library_path: the library's root file, or "" for none.
        dependencies: by the name that its code uses, the directory of a ``path`` dependency or
            None, and the dependency's package name in the workspace.
        binaries: the root files of programs declared by ``[[bin]]`` and the like.
    """

    name: str
    root: str
    library: str
    library_path: str
    dependencies: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    binaries: frozenset[str] = frozenset()


class Crates:
    """The crates of a repository.

    Args:
        view: the repository.
    """

    def __init__(self, view: SourceView) -> None:
        self._view = view
        read = {path: self._read(path) for path in view.manifests("Cargo.toml")}
        self._shared = {dirname(p): t["workspace"] for p, t in read.items() if "workspace" in t}
        self.all = [self._crate(dirname(p), t) for p, t in read.items() if "package" in t]
        self._by_root = {crate.root: crate for crate in self.all}
        self._by_name = {crate.name: crate for crate in self.all}

    def packages(self) -> Sequence[Package]:
        """The crates as packages."""
        return [
            Package(c.name, c.root, "cargo", "cargo" if self._is_member(c.root) else "")
            for c in self.all
        ]

    def home(self, path: str) -> Crate | None:
        """The crate whose directory contains a file."""
        directory = dirname(path)
        while True:
            if directory in self._by_root:
                return self._by_root[directory]
            if not directory:
                return None
            directory = dirname(directory)

    def called(self, path: str, name: str) -> Crate | None:
        """The crate that a file's code refers to by ``name``."""
        home = self.home(path)
        if home is not None:
            if home.library == name:
                return home
            if name in home.dependencies:
                directory, real = home.dependencies[name]
                return self._by_root.get(directory or "\0") or self._local(real)
        return None

    def _local(self, name: str) -> Crate | None:
        return self._by_name.get(name)

    def depends(self, path: str, name: str) -> bool:
        """Whether ``name`` is a dependency of the file's crate."""
        home = self.home(path)
        return home is not None and name in home.dependencies

    def _is_member(self, root: str) -> bool:
        for base, table in self._shared.items():
            members = [str(each).rstrip("/") for each in table.get("members", ())]
            inside = root == base or any(fnmatchcase(root, _joined(base, m)) for m in members)
            left_out = [_joined(base, str(each)) for each in table.get("exclude", ())]
            if inside and root not in left_out:
                return True
        return False

    def _crate(self, root: str, table: Table) -> Crate:
        package = _table(table, "package")
        name = str(package.get("name", ""))
        library = _table(table, "lib")
        path = _joined(root, str(library.get("path", "src/lib.rs")))
        if "path" not in library and not self._view.exists(path):
            path = ""
        given = str(library.get("name", name)).replace("-", "_")
        found: dict[str, tuple[str | None, str]] = {}
        for part in (table, *_table(table, "target").values()):
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                for key, how in _table(part, kind).items():
                    found[key.replace("-", "_")] = self._dependency(root, key, how)
        binaries = [
            _joined(root, str(each.get("path", "")))
            for kind in ("bin", "example", "test", "bench")
            for each in table.get(kind, ())
            if isinstance(each, dict)
        ]
        return Crate(name, root, given, path, found, frozenset(binaries))

    def _dependency(self, root: str, key: str, how: Any) -> tuple[str | None, str]:
        if not isinstance(how, dict):
            return None, key
        base = root
        if how.get("workspace"):
            base, how = self._inherited(root, key)
        directory = _joined(base, str(how["path"])) if "path" in how else None
        return directory, str(how.get("package", key))

    def _inherited(self, root: str, key: str) -> tuple[str, Table]:
        for base in sorted(self._shared, key=len, reverse=True):
            if not base or root == base or root.startswith(f"{base}/"):
                how = _table(self._shared[base], "dependencies").get(key, {})
                return base, how if isinstance(how, dict) else {}
        return root, {}

    def _read(self, path: str) -> Table:
        try:
            return tomllib.loads((self._view.read(path) or b"").decode("utf-8", "replace"))
        except tomllib.TOMLDecodeError:
            return {}


def _table(table: Any, name: str) -> Table:
    found = table.get(name) if isinstance(table, dict) else None
    return found if isinstance(found, dict) else {}


def _joined(root: str, path: str) -> str:
    found = normpath(join(root, path.replace("\\", "/")))
    return "" if found == "." else found


def packages(view: SourceView) -> Sequence[Package]:
    """The crates of a repository."""
    return Crates(view).packages()
