"""Python: modules are files, packages are directories, members are looked up by C3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.linking.rules import Rules
    from plugins.codegraph.linking.world import World


class Python:
    """The language module."""

    name = "python"
    suffixes = frozenset({".py", ".pyi"})
    manifests = ("pyproject.toml", "setup.cfg", "setup.py")

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file."""
        from plugins.codegraph.languages.python.grammar import parser
        from plugins.codegraph.languages.python.lowering import Lowering

        return Lowering(path, source).lower(parser().parse(source).root_node)

    def rules(self, world: World) -> Rules:
        """How Python's names are looked up."""
        from plugins.codegraph.languages.python.rules import PythonRules

        return PythonRules(world)

    def packages(self, world: World) -> Sequence[Package]:
        """The projects of the repository, by their ``pyproject.toml``."""
        from plugins.codegraph.languages.python.projects import packages

        return packages(world)


LANGUAGES = (Python(),)
