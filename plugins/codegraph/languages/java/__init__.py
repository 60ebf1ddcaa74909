"""Java: packages as files declare them, with Maven and Gradle modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.linking.rules import Rules
    from plugins.codegraph.linking.world import World


class Java:
    """The language module."""

    name = "java"
    suffixes = frozenset({".java"})
    manifests = (
        "pom.xml",
        "settings.gradle",
        "settings.gradle.kts",
        "build.gradle",
        "build.gradle.kts",
    )

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file."""
        from plugins.codegraph.languages.java.grammar import parser
        from plugins.codegraph.languages.java.lowering import Lowering

        return Lowering(path, source).lower(parser().parse(source).root_node)

    def rules(self, world: World) -> Rules:
        """How Java's names are looked up."""
        from plugins.codegraph.languages.java.rules import JavaRules

        return JavaRules(world)

    def packages(self, world: World) -> Sequence[Package]:
        """The modules of the repository."""
        from plugins.codegraph.languages.java.modules import modules

        return modules(world)


LANGUAGES = (Java(),)
