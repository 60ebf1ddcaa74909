"""Rust: crates and workspaces of Cargo, and modules as files declare them."""

from plugins.codegraph.languages.base import ParsedLanguage

LANGUAGES = (
    ParsedLanguage(
        name="rust",
        suffixes=frozenset({".rs"}),
        manifests=("Cargo.toml",),
        lookup="rules:RustRules",
        ecosystem="crates:packages",
    ),
)
