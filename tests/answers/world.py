"""The portal's directory that the answers are recorded with: small, fixed, of every kind.

Everything is written anew each time, with the same bytes and, in Git, the same dates, so that
commits, digests and answers are the same wherever it lies.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

# What members would paste; the portal listens elsewhere, so that answers never hold a port.
ADDRESS = "http://127.0.0.1:8321"
# In the order of PORCH_STATIC_TOKENS: two members, as some answers differ for the one who wrote.
MEMBER, OTHER, PUBLIC = "answers-of-ana-0000", "answers-of-ben-0000", "answers-of-eve-0000"
TOKENS = f"members:{MEMBER},members:{OTHER},public:{PUBLIC}"
HOOK_SECRET = "the answers' own secret"
# The first of January, so that nothing happens by itself while answers are recorded.
NEVER = "0 0 1 1 *"
_GIT = {
    "GIT_AUTHOR_NAME": "Ana",
    "GIT_AUTHOR_EMAIL": "ana@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Ana",
    "GIT_COMMITTER_EMAIL": "ana@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}

PORTAL: dict[str, Any] = {
    "name": "The Garden",
    "public_url": ADDRESS,
    "services": {"embedding": "none"},
    "limits": {
        "calls": "none",
        "body": "256KiB",
        "tools": {"list_releases": "2 in 1d"},
        "operations": {"get_entries": "2 in 1d", "knowledge.discovery": "2 in 1d"},
    },
    "plugins": {
        "knowledge": {
            "sources": [
                {"name": "notes", "directory": "./notes"},
                {"name": "wiki", "directory": "./wiki", "publish": "all", "tier": "public"},
            ],
            "github": {"webhook_secret": "env:ANSWERS_HOOK"},
            "schedule": NEVER,
            "memory": {"upkeep": NEVER, "approval": {"layers": ["organization"]}},
        },
        "skills_repo": {
            "schedule": NEVER,
            "sources": [
                {"name": "house", "kind": "skills", "directory": "./skills", "tier": "open"},
                {"name": "inner", "kind": "skills", "directory": "./inner", "tier": "members"},
                {"name": "crew", "kind": "agents", "directory": "./agents", "tier": "public"},
                {
                    "name": "handbook",
                    "kind": "docs",
                    "directory": "./handbook",
                    "branch": "main",
                    "path": "docs",
                    "tier": "open",
                },
            ],
            "github": {"webhook_secret": "env:ANSWERS_HOOK"},
        },
        "codegraph": {
            "default_tier": "public",
            "scip": "off",  # it says so some time after the index is made
            "repositories": [
                {"name": "garden", "path": "./garden"},
                {"name": "shed", "path": "./shed", "tier": "members"},
            ],
        },
    },
}

TIERS: dict[str, Any] = {
    "default": "members",
    "access": {"public": {"any_of": ["signed_in"]}, "members": {"any_of": []}},
    "items": {
        "knowledge": "open",
        "knowledge/get_document": "public",
        "knowledge/search_with_documents": "members",
        "knowledge/list_approvals": {"tier": "members", "hidden": True},
        "knowledge/prompt:compare-practices": "public",
        "skills_repo/list_*": "open",
        "skills_repo/search_*": "open",
        "skills_repo/get_*": "public",
        "skills_repo/prompt:*": "public",
        "skills_repo/resource:*": "public",
        "workflows": "open",
        "workflows/add_*": "public",
        "workflows/edit_*": "public",
        "workflows/remove_*": "public",
        "workflows/create_folder": "public",
        "workflows/list_runs": "public",
        "workflows/finish_run": "public",
        "workflows/publish": "members",
        "codegraph": "open",
    },
}

# Broken in ways that `porch check` names by their lines.
BROKEN_PORTAL = """\
name: The Garden
listen:
  port: eighty
surprise: true
limits:
  call: soon
plugins:
  knowledge:
    sources:
      - {directory: ./nowhere, publish: maybe}
  orchard: {}
"""
BROKEN_TIERS = """\
default: everyone
items:
  knowledge: open
  knowledge: members
  knowledge/no_such_tool: open
access:
  members: {any_of: [{hat: many}]}
"""
NO_YAML = "name: [unfinished\nlisten: {\n"


def note(kind: str, title: str, body: str, **more: Any) -> str:
    """A note of the knowledge base."""
    said = {"type": kind, "title": title, "date": "2026-01-02", "publish": True, **more}
    lines = [f"{key}: {json.dumps(value)}" for key, value in said.items()]
    return "\n".join(["---", *lines, "---", "", body, ""])


def _notes() -> dict[str, str]:
    kinds = {
        "artifacts/patterns/three-tiers.md": note(
            "pattern",
            "Three tiers",
            "Open, public and members: who may use what.\n\n## Why three\n\nFewer says too "
            "little and more are not remembered. See [[composting]].",
            description="Why there are three tiers.",
            tags=["tiers", "access"],
            group="gardeners",
            release="spring",
        ),
        "artifacts/patterns/composting.md": note(
            "pattern",
            "Composting",
            "What is left over feeds what grows. Turn the heap, keep it moist.",
            description="How leftovers become soil.",
            tags=["soil"],
            release="spring",
            status="active",
        ),
        "artifacts/practices/water-plants.md": note(
            "practice",
            "Water plants",
            "In the morning, at the roots, and seldom but much.\n" * 3,
            tags=["water", "soil"],
            group="gardeners",
        ),
        "artifacts/practices/prune-trees.md": note(
            "practice", "Prune trees", "In late winter, above a bud.", tags=["trees"]
        ),
        "artifacts/questions/when-to-plant.md": note(
            "question", "When to plant?", "After the last frost.", status="open"
        ),
        "tags/mulch.md": note(
            "tag",
            "Mulch",
            "A layer of straw or leaves that keeps the soil moist.",
            aliases=["ground cover"],
            description="What covers the soil.",
        ),
        "tags/compost.md": note("tag", "Compost", "Soil that was made of leftovers."),
        "data/groups/gardeners.md": note("group", "Gardeners", "Those who dig.", slug="gardeners"),
        "notes/members-only.md": note(
            "file", "Where the key is", "Under the third pot: the secret orchid.", tier="members"
        ),
        "notes/signed-in.md": note("file", "Who waters when", "A rota.", tier="public"),
        "notes/draft.md": note("file", "Not yet", "A draft.", publish=False),
        "notes/broken.md": "---\ntype: [pattern\ntitle: Broken\n---\nNo YAML.\n",
        "notes/unknown-kind.md": note("gizmo", "Of an unknown type", "Words."),
    }
    beds = {
        f"artifacts/patterns/bed-{number:02}.md": note(
            "pattern",
            f"Bed {number:02}",
            f"Bed {number} grows beans." + " Dig." * number,
            tags=["beds"],
        )
        for number in range(1, 41)
    }
    return {f"notes/{path}": text for path, text in (kinds | beds).items()}


def _skill(name: str, description: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n"


SKILLS = {
    "skills/water-plants/SKILL.md": _skill(
        "water-plants", "Water plants well. Use when leaves hang.", "Water at the roots."
    ),
    "skills/water-plants/references/amounts.md": "# Amounts\n\nTen litres a week.\n",
    "skills/water-plants/scripts/amount.py": "print(10)\n",
    "skills/prune-trees/SKILL.md": _skill(
        "prune-trees", "Prune fruit trees in winter.", "Cut above a bud."
    ),
    "skills/no-strict-yaml/SKILL.md": (
        "---\nname: no-strict-yaml\ndescription: Use this: when YAML is not strict\n---\n\nText.\n"
    ),
    "skills/no-frontmatter/SKILL.md": "# Nothing above\n\nJust text.\n",
    "inner/open-the-shed/SKILL.md": _skill(
        "open-the-shed", "Where the key of the shed is.", "Third pot."
    ),
    "agents/gardener.md": (
        "---\nname: gardener\ndescription: Tends the beds.\nmodel: sonnet\ntools: Read, Grep\n"
        "---\n\nYou tend the beds.\n"
    ),
    "agents/README.md": "# Agents\n\nWho they are.\n",
    "handbook/docs/index.md": "---\ntitle: Handbook\n---\n\n# Handbook\n\nRead me first.\n",
    "handbook/docs/guides/beds.md": (
        "---\ntitle: Beds\ndescription: How beds are laid out.\n---\n\n# Beds\n\nNorth to south.\n"
    ),
    "handbook/docs/guides/tools.mdx": "# Tools\n\nSpade, rake, hoe.\n",
}
CODE = {
    "garden/src/beds.py": '''"""Beds of the garden."""

from src.water import Can, pour

WIDTH = 2


class Bed:
    """A bed with plants."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.plants: list[str] = []

    def plant(self, name: str) -> None:
        """Put a plant into the bed."""
        self.plants.append(name)
        self.tend()

    def tend(self) -> int:
        """Water the bed and say how much it took."""
        return pour(Can(10), len(self.plants))


class RaisedBed(Bed):
    """A bed on legs."""

    def tend(self) -> int:
        return super().tend() * 2


def lay_out(names: list[str]) -> list[Bed]:
    """Make a bed of each name."""
    return [Bed(name) for name in names]
''',
    "garden/src/water.py": '''"""Watering."""

API_KEY = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


class Can:
    """A watering can."""

    def __init__(self, litres: int) -> None:
        self.litres = litres


def pour(can: Can, plants: int) -> int:
    """Pour a can over plants; says how much each gets."""
    if not plants:
        return 0
    return share(can.litres, plants)


def share(litres: int, plants: int) -> int:
    """Divide litres among plants."""
    return litres // plants
''',
    "garden/tests/test_beds.py": """from src.beds import Bed, lay_out


def test_a_bed_is_tended() -> None:
    bed = Bed("north")
    bed.plant("beans")
    assert bed.tend() == 10


def test_beds_are_laid_out() -> None:
    assert len(lay_out(["a", "b"])) == 2
""",
    "garden/web/plan.ts": """import { scale } from "./scale";

/** Draws the plan of a garden. */
export class Plan {
  constructor(private readonly width: number) {}

  draw(): string {
    return "x".repeat(scale(this.width));
  }
}

export function show(width: number): string {
  return new Plan(width).draw();
}
""",
    "garden/web/scale.ts": """/** Scales metres to characters. */
export function scale(metres: number): number {
  return metres * 2;
}
""",
    "garden/README.md": "# Garden\n\nBeds and water.\n",
    "shed/main.go": """package main

// Open opens the shed.
func Open() string { return "open" }

func main() { Open() }
""",
}
WIKI = {
    "wiki/welcome.md": "---\ntitle: Welcome\ntype: file\ndate: 2026-01-02\n---\nCome in.\n",
    "wiki/rain.md": "---\ntitle: Rain\ntype: file\ndate: 2026-01-02\n---\nIt waters the beds.\n",
}


def build(root: Path) -> None:
    """Write the whole world into an empty directory."""
    files = {
        "config/portal.yaml": json.dumps(PORTAL, indent=1),
        "config/tiers.yaml": json.dumps(TIERS, indent=1),
        "broken/config/portal.yaml": BROKEN_PORTAL,
        "broken/config/tiers.yaml": BROKEN_TIERS,
        "unreadable/config/portal.yaml": NO_YAML,
        "unreadable/config/tiers.yaml": "{}\n",
        "proposal.yaml": json.dumps({**TIERS, "items": {**TIERS["items"], "knowledge": "public"}}),
        **_notes(),
        **WIKI,
        **SKILLS,
        **CODE,
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for name in ("wiki", "handbook", "garden", "shed"):
        _commit(root / name)


def _commit(repository: Path) -> None:
    environment = {**os.environ, **_GIT}
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=All there is"],
    ):
        subprocess.run(["git", *command], cwd=repository, env=environment, check=True)
