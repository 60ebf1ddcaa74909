"""Secrets in indexed files: neither kept nor answered, and named to the admin."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(11))
OTHER = made("ghp_{alnum:36}", Random(12))
PASSWORD = made("{alnum:14}", Random(13))
APP = f'''"""Talks to GitHub with {TOKEN}."""


def fetch(token="{TOKEN}"):
    """Fetch with {TOKEN}."""
    return call("{TOKEN}")


def call(token):
    return token
'''
TREE = {
    "app.py": APP,
    ".env": f"API_TOKEN={TOKEN}\nDB_PASSWORD={PASSWORD}\n",
    "deploy/prod.env": f"DB_PASSWORD={PASSWORD}\n",
    "id_rsa": "not even a key\n",
    ".env.example": "API_TOKEN=your-token\n",
    "settings.yaml": f"a: 1\ntoken: {TOKEN}\n",
    "pyproject.toml": f'[project]\nname = "x"\ndescription = "{TOKEN}"\n',
    "old.py": f'NAME = "caf\xe9 {TOKEN}"\n',
}


def tree(tmp_path: Path) -> Path:
    root = tmp_path / "garden"
    for path, text in TREE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode("latin-1"))
    return root


def config(root: Path, **scrubbing: Any) -> dict[str, Any]:
    codegraph = {"repositories": [{"path": str(root)}]}
    return {"plugins": {"codegraph": codegraph}, "scrubbing": scrubbing}


async def answers(portal: TestPortal) -> list[str]:
    """What every read path answers an open caller."""
    asked: list[tuple[str, dict[str, Any]]] = [
        *(("get_file", {"file": each}) for each in TREE),
        ("get_function", {"name": "fetch"}),
        ("get_callers", {"name": "call"}),
        ("get_callees", {"name": "fetch"}),
        ("analyze_impact", {"name": "call"}),
        ("search_code", {"query": "fetch GitHub"}),
        ("search_code", {"query": TOKEN}),
        ("semantic_search", {"query": "fetch GitHub"}),
        ("get_project_stats", {}),
        ("get_health_report", {}),
        ("get_recent_changes", {}),
    ]
    found = [json.dumps(await portal.mcp("open").call(*each)) for each in asked]
    found.append((await portal.get("/api/v1/codegraph/repositories")).text)
    found.append(json.dumps(await portal.health()))
    return found


def kept(data: Path) -> Iterator[bytes]:
    """All bytes that lie beside the portal, inflated where they were deflated."""
    for file in data.rglob("*"):
        if file.is_file():
            yield file.read_bytes()
    for file in data.rglob("*"):
        if not file.is_file() or not file.read_bytes().startswith(b"SQLite format 3"):
            continue
        with closing(sqlite3.connect(file)) as database:
            names = "SELECT name FROM sqlite_master WHERE name IN ('codegraph_texts', 'facts')"
            for (table,) in database.execute(names).fetchall():
                for (blob,) in database.execute(f"SELECT data FROM {table}"):
                    yield zlib.decompress(blob)


async def test_no_read_path_answers_with_a_secret_and_none_is_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    root = tree(tmp_path)
    async with open_test_portal(plugin, config=config(root), data_dir=data) as portal:
        for answer in await answers(portal):
            assert TOKEN not in answer
            assert PASSWORD not in answer
        shown = (await portal.call("get_file", {"file": "app.py"})).structured
        assert len(shown["source"]["text"].splitlines()) == len(APP.splitlines())
        assert "[REDACTED: GitHub personal access token (classic)]" in shown["source"]["text"]
        assert shown["secrets"].endswith("(line 1, 4, 5, 6)")
        function = (await portal.call("get_function", {"name": "fetch"})).structured
        assert function["entity"]["line"] == 4
        assert function["callees"][0]["name"] == "call"
    for text in kept(data):
        assert TOKEN.encode() not in text
        assert PASSWORD.encode() not in text


async def test_files_of_secrets_are_left_out_by_name_and_said_so(tmp_path: Path) -> None:
    async with open_test_portal(plugin, config=config(tree(tmp_path))) as portal:
        stats = (await portal.call("get_project_stats")).structured
        left = {each["file"] for each in stats["problems"] if "file of secrets" in each["problem"]}
        assert left == {".env", "deploy/prod.env", "id_rsa"}
        example = (await portal.call("get_file", {"file": ".env.example"})).structured
        assert example["source"]["text"] == TREE[".env.example"]


async def test_the_admin_learns_of_file_line_and_kind_once(tmp_path: Path) -> None:
    async with open_test_portal(plugin, config=config(tree(tmp_path))) as portal:
        health = (await portal.health())["plugins"]["codegraph"]
        assert "Secrets were taken out of 4 files" in health["detail"]
        kind = "GitHub personal access token (classic)"
        assert f"garden: app.py: {kind} (line 1, 4, 5, 6)" in health["facts"]["taken_out"]
        assert f"garden: settings.yaml: {kind} (line 2)" in health["facts"]["taken_out"]


async def test_an_admin_has_a_repository_served_as_it_is(tmp_path: Path) -> None:
    root = tree(tmp_path)
    async with open_test_portal(plugin, config=config(root, as_is=["codegraph/garden"])) as portal:
        shown = (await portal.call("get_file", {"file": "app.py"})).structured
        assert shown["source"]["text"] == APP
        assert shown.get("secrets") is None


async def test_switching_it_on_or_off_counts_for_what_is_read_anew(tmp_path: Path) -> None:
    root, data = tree(tmp_path), tmp_path / "data"
    for scrubbing in ({"as_is": ["codegraph"]}, {}, {"enabled": False}):
        (root / "app.py").write_text(APP + f"# {scrubbing}\n")
        async with open_test_portal(
            plugin, config=config(root, **scrubbing), data_dir=data
        ) as portal:
            shown = (await portal.call("get_file", {"file": "app.py"})).structured
            assert (TOKEN in shown["source"]["text"]) is bool(scrubbing)


@pytest.mark.parametrize("path", ["app.py", ".env"])
async def test_uncommitted_work_is_scrubbed_like_the_rest(tmp_path: Path, path: str) -> None:
    root = tree(tmp_path)
    async with open_test_portal(plugin, config=config(root)) as portal:
        old = TREE[path].splitlines()
        first = old[0]
        diff = (
            f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,2 @@\n"
            f" {first}\n+# {OTHER}\n"
        )
        sent = {"diff": diff, "branch": "main", "baseSha": "0" * 40}
        await portal.mcp("members").call("sync_local_diff", sent)
        answer = json.dumps(await portal.mcp("members").call("get_file", {"file": path}))
        assert OTHER not in answer
        assert TOKEN not in answer


async def test_an_index_of_an_older_version_is_made_anew_without_them(tmp_path: Path) -> None:
    root, data = tree(tmp_path), tmp_path / "data"
    whole = config(root, enabled=False)
    async with open_test_portal(plugin, config=whole, data_dir=data) as portal:
        assert TOKEN in str((await portal.call("get_file", {"file": "app.py"})).structured)
    with closing(sqlite3.connect(data / "porch.db")) as database, database:
        database.execute("ALTER TABLE codegraph_files DROP COLUMN secrets")
        for table in _LATER:
            database.execute(f"DROP TABLE codegraph_{table}")
        (table,) = next(
            database.execute(
                "SELECT name FROM sqlite_master WHERE name = 'alembic_version_codegraph'"
            )
        )
        database.execute(f"UPDATE {table} SET version_num = '0003'")
    async with open_test_portal(plugin, config=config(root), data_dir=data) as portal:
        for answer in await answers(portal):
            assert TOKEN not in answer
    with closing(sqlite3.connect(data / "porch.db")) as database:
        texts = [zlib.decompress(row[0]) for row in database.execute(_TEXTS)]
        assert texts
        assert not any(TOKEN.encode() in text for text in texts)
        ended = database.execute("SELECT count(*) FROM codegraph_layers WHERE state = 'dead'")
        assert ended.fetchone() == (1,)


_LATER = (
    *("mentions", "endpoints", "health", "justifications", "justified", "features", "signals"),
    *("corrections", "changes", "updates", "opinions", "opinion_runs"),
    "branches",
)
"""Tables that later migrations make."""
_TEXTS = "SELECT data FROM codegraph_texts"
