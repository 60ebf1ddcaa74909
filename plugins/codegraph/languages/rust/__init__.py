"""Rust: crates and workspaces of Cargo, and modules as files declare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plugins.codegraph.facts import FileFacts
from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.linking.rules import Rules
    from plugins.codegraph.linking.world import World


class Rust:
    """The language module."""

    name = "rust"
    suffixes = frozenset({".rs"})
    manifests = ("Cargo.toml",)

    def parse(self, path: str, source: bytes) -> FileFacts:
        """Read one file."""
        from plugins.codegraph.languages.rust.grammar import parser
        from plugins.codegraph.languages.rust.lowering import Lowering

        return Lowering(path, source).lower(parser().parse(source).root_node)

    def rules(self, world: World) -> Rules:
        """How Rust's names are looked up."""
        from plugins.codegraph.languages.rust.rules import RustRules

        return RustRules(world)

    def packages(self, world: World) -> Sequence[Package]:
        """The crates of the repository."""
        from plugins.codegraph.languages.rust.crates import Crates

        return Crates(world).packages()


LANGUAGES = (Rust(),)
