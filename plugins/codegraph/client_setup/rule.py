"""The bootstrap rule: what an agent does before and after it changes code.

It is the seed's rule (kap10, "Bootstrap Rule"), plus ``git add -N``, since ``git diff HEAD`` alone
omits new files.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

VERSION = "1.0.0"
"""The rule's version: a patch changes wording, a minor one rules or tools, a major one the
workflow."""

SERVER = "porch"
"""The portal's name in the clients' settings."""

_EXCLUDED = (
    *("package-lock.json", "pnpm-lock.yaml", "yarn.lock", "uv.lock", "poetry.lock"),
    *("Gemfile.lock", "Cargo.lock", "go.sum", "composer.lock"),
    *("node_modules/", "dist/", ".next/", "build/"),
)
"""What the portal would ignore anyway, so it need not be sent."""


@cache
def rule_text() -> str:
    """The rule in Markdown, without version and trailing newline."""
    excluded = " ".join(f"':!{each}'" for each in _EXCLUDED)
    text = Path(__file__).with_name("rule.md").read_text("utf-8")
    return text.replace("{excluded}", excluded).replace("{server}", SERVER).rstrip("\n")
