"""A small portal for the command line, and a way to run commands on it."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.cli.options import EXIT
from gateway.testing.migrations import replayed_migrations
from tests.servers import forked
from tests.servers.readiness import is_ready

PAGE = """---
title: {title}
type: {type}
publish: true
date: 2026-01-02
---

# {title}

{title}: a page about gardens that neighbours share.
"""
PORTAL = """\
services: {embedding: none}
listen: {port: 0}
plugins:
  workflows: {starter: false}
  knowledge:
    sources: [{directory: ./content}]
"""
TIERS = """
default: members
items:
  knowledge: open
  knowledge/get_document: members
"""

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _logging(logging_as_it_was: None) -> None:
    """Commands run in the tests' own process."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with ``config`` and ``content``, as a checkout has them."""
    (tmp_path / "config").mkdir()
    (tmp_path / "content").mkdir()
    (tmp_path / "config" / "portal.yaml").write_text(PORTAL)
    (tmp_path / "config" / "tiers.yaml").write_text(TIERS)
    for name, title, kind in (("garden", "Garden", "tag"), ("sow", "How to sow", "pattern")):
        (tmp_path / "content" / f"{name}.md").write_text(PAGE.format(title=title, type=kind))
    return tmp_path


@pytest.fixture
def porch(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run ``porch`` with some words, in the place."""
    monkeypatch.chdir(place)

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="porch")

    with replayed_migrations():
        yield run


@pytest.fixture
def backed_up(porch: Run, place: Path) -> Path:
    """A backup of a portal on which a call was made."""
    porch("call", "search_knowledge", "query=garden")
    result = porch("backup", "kept.tar.gz")
    assert result.exit_code == EXIT.DONE, result.output
    return place / "kept.tar.gz"


@pytest.fixture
def databases(postgres_url: str) -> Iterator[list[str]]:
    """The addresses of two empty PostgreSQL databases."""
    server = postgres_url.replace("+asyncpg", "")
    names = [f"porch_{uuid.uuid4().hex}" for _ in range(2)]
    with psycopg.connect(server, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}".encode())
        yield [f"{server.rpartition('/')[0]}/{name}" for name in names]
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def served(place: Path, *words: str, **environment: str) -> Iterator[tuple[str, list[str]]]:
    """Run ``porch serve`` in a process of its own: the portal's URL, and what it printed first."""
    log, errors = place / "printed", place / "errors"
    log.write_text("")
    variables = {**os.environ, "PYTHONPATH": str(Path.cwd()), **environment}
    process = forked.Forked(("serve", "--port", "0", *words), place, variables, log, errors)
    printed: list[str] = []
    try:
        deadline = time.monotonic() + 60
        while not any("Ctrl+C" in line for line in printed):
            assert process.poll() is None, errors.read_text()
            assert time.monotonic() < deadline, errors.read_text()
            time.sleep(0.02)
            printed[:] = log.read_text().splitlines()
        url = next(line.split()[-1] for line in printed if "Paste into" in line)
        yield url.removesuffix("/mcp"), printed
    finally:
        process.terminate()
        code = process.wait(timeout=60)
        printed[:] = log.read_text().splitlines()
        assert code == 0


def ready(url: str) -> bool:
    """Whether the portal says so, within a deadline."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if is_ready(url):
            return True
        time.sleep(0.05)
    return False
