"""Go: packages are directories, imports are module paths of ``go.mod`` and ``go.work``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.linking.rules import Rules
    from plugins.codegraph.linking.world import World


class Go:
    """The language module."""

    name = "go"
    suffixes = frozenset({".go"})
    manifests = ("go.mod", "go.work")

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file."""
        from plugins.codegraph.languages.go.grammar import parser
        from plugins.codegraph.languages.go.lowering import Lowering

        return Lowering(path, source).lower(parser().parse(source).root_node)

    def rules(self, world: World) -> Rules:
        """How Go's names are looked up."""
        from plugins.codegraph.languages.go.rules import GoRules

        return GoRules(world)

    def packages(self, world: World) -> Sequence[Package]:
        """The modules of the repository."""
        from plugins.codegraph.languages.go.modules import Modules

        return Modules(world).packages()


LANGUAGES = (Go(),)
