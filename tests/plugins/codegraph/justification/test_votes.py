"""What single facts say of an entity's class, in several languages and frameworks."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.codegraph.justification.taxonomy import Taxonomy
from tests.plugins.codegraph.justification.shops import justified
from tests.plugins.codegraph.justification.test_justifier import said
from tests.plugins.codegraph.portal import Files, world

FILL = {f"src/filler{n}.py": b"X = 1\n\n\ndef fill(): ...\n" for n in range(3)}


@pytest.fixture
def data(tmp_path: Path, codegraph_file: Path) -> tuple[Path, Path]:
    return tmp_path, codegraph_file


async def shown(data: tuple[Path, Path], files: Files) -> dict[str, Taxonomy]:
    """What is said of each entity of a tree, by its name."""
    async with world(data[0], None, data[1]) as made:
        owner = await made.index("tree", {**FILL, **files})
        await justified(made, owner)
        return {name: each.shown() for name, each in (await said(made, owner)).items()}


@pytest.mark.parametrize(
    ("path", "text", "name", "kind", "technology"),
    [
        (
            "src/problems.py",
            b"class OrderError(ValueError):\n    pass\n",
            *("OrderError", "HORIZONTAL", "error handling"),
        ),
        (
            "src/jobs/nightly.py",
            b"import smtplib\n\n\ndef send_report():\n    smtplib.SMTP().sendmail('', '', '')\n",
            *("send_report", "HORIZONTAL", "email"),
        ),
        (
            "src/lookup.py",
            b"from flask import current_app\n\n\ndef find(q):\n"
            b"    return current_app.elasticsearch.search(q)\n",
            *("find", "HORIZONTAL", "search"),
        ),
        (
            "src/helpers.py",
            b"def chunk(xs, n):\n    return [xs[i : i + n] for i in range(0, len(xs), n)]\n",
            *("chunk", "UTILITY", None),
        ),
        (
            "src/pieces.py",
            b"from enum import Enum\n\n\nclass Color(Enum):\n    RED = 1\n",
            *("Color", "UTILITY", None),
        ),
        (
            "src/factory.py",
            b"from flask import Flask\n\n\ndef create_app():\n    return Flask('x')\n",
            *("create_app", "HORIZONTAL", "configuration"),
        ),
        (
            "src/token.utils.ts",
            b"import * as jwt from 'jsonwebtoken';\n\nexport function generateToken(id: number) {\n"
            b"  return jwt.sign({ id }, 'x');\n}\n",
            *("generateToken", "HORIZONTAL", "authentication"),
        ),
        (
            "billing/invoice/invoice.service.ts",
            b"export async function payInvoice(id: number) {\n  await save(id);\n}\n",
            *("payInvoice", "VERTICAL", None),
        ),
    ],
)
async def test_a_fact_speaks_for_a_class(
    data: tuple[Path, Path], path: str, text: bytes, name: str, kind: str, technology: str | None
) -> None:
    found = (await shown(data, {path: text}))[name]
    assert (found.type.value, found.technology_type) == (kind, technology)
    assert found.evidence


async def test_nothing_is_said_where_nothing_tells(data: tuple[Path, Path]) -> None:
    text = b"class Thing:\n    def __init__(self):\n        self.a = 1\n"
    found = (await shown(data, {"src/main.py": text}))["Thing"]
    assert (found.type.value, found.confidence) == ("unknown", 0)
    assert (found.purpose, found.business_value) == ("unknown", "unknown")


async def test_commands_programs_tasks_and_handlers_are_entry_points(
    data: tuple[Path, Path],
) -> None:
    files = {
        "pyproject.toml": b'[project.scripts]\nshop = "src.run:start"\n',
        "src/run.py": b"def start(): ...\n",
        "src/cli.py": b"import click\n\n\n@click.command()\ndef sync_all(): ...\n",
        "src/work.py": b"from celery import shared_task\n\n\n@shared_task\ndef clean(): ...\n",
        "src/app.py": b"@app.errorhandler(404)\ndef missing(e): ...\n",
        "cmd/main.go": b"package main\n\nfunc main() {}\n",
    }
    found = await shown(data, files)
    told = {name: (each.entry_point, each.entry) for name, each in found.items() if each.entry}
    assert told == {
        "start": ("command", "shop"),
        "sync_all": ("command", "sync-all"),
        "clean": ("task", "clean"),
        "missing": ("handler", "app.errorhandler(404)"),
        "main": ("main", "cmd/main.go"),
    }
