"""Secrets in notes: neither kept nor answered, and named to the admin."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.check import check
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.retrieval import index
from tests.gateway.scrubbing.fakes import made

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

TOKEN = made("ghp_{alnum:36}", Random(21))
KIND = "GitHub personal access token (classic)"
NOTE = f"""---
publish: true
title: Deploying with {TOKEN}
description: {TOKEN}
aliases: [{TOKEN}, "the {TOKEN}"]
tags:
  - garden
  - {TOKEN}
group: {TOKEN}
release: "{TOKEN}"
date: 2024-10-16
---
# Deploying

The gardener's token is {TOKEN}.

```yaml
token: {TOKEN}
```
"""
LINES = [3, 4, 5, 8, 9, 10, 15, 18]
TIERS = {"items": {"knowledge": "public"}}


def notes(tmp_path: Path, **more: str | bytes) -> Path:
    root = tmp_path / "notes"
    (root / "tags").mkdir(parents=True, exist_ok=True)
    for name, text in {"dao": NOTE, **more}.items():
        data = text.encode() if isinstance(text, str) else text
        (root / "tags" / f"{name}.md").write_bytes(data)
    return root


@asynccontextmanager
async def opened(
    root: Path, data: Path | None = None, model: str = "none", **scrubbing: Any
) -> AsyncGenerator[TestPortal]:
    config = {
        "plugins": {"knowledge": {"sources": [{"directory": str(root), "name": "kb"}]}},
        "scrubbing": scrubbing,
        "services": {"embedding": model},
    }
    async with open_test_portal(plugin, config=config, tiers=TIERS, data_dir=data) as portal:
        yield portal


async def answers(portal: TestPortal) -> list[str]:
    """What every read path answers."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search_knowledge", {"query": "gardener's token"}),
        ("search_knowledge", {"query": "deploying"}),
        ("search_with_documents", {"query": "gardener's token"}),
        ("get_document", {"contentType": "tag", "id": "dao"}),
        ("define_term", {"term": "dao"}),
        ("search_lexicon", {"keyword": "deploying"}),
        ("list_groups", {}),
        ("list_releases", {}),
        ("query_memory", {"query": "gardener's token"}),
    ]
    found = [json.dumps(await portal.mcp("members").call(*each)) for each in asked]
    listed = {
        "templates": await portal.mcp("members").list("templates"),
        "resources": list((await portal.resources()).values()),
        "prompts": list((await portal.prompts()).values()),
    }
    found.append(json.dumps(listed))
    base = next(
        each.partition("/data/")[0] for each in await portal.resources() if "/data/" in each
    )
    read = ["data/groups", "data/releases", "documents/tag/dao", "terms/dao"]
    found += [await portal.read(f"{base}/{each}") for each in read]
    for name, prompt in (await portal.prompts()).items():
        given = {one["name"]: "dao" for one in prompt["arguments"] if one.get("required")}
        found.append(json.dumps(await portal.prompt(name, given)))
    for field in ("terms/{term}", "groups/{group}", "releases/{release}"):
        uri, named = f"{base}/{field}", field.split("{")[1][:-1]
        found.append(json.dumps(await portal.complete(uri, named, "")))
    for path in ("entries", "entries/tag/dao", "search?q=gardener", "sync"):
        found.append((await portal.http("members").get(f"/api/v1/knowledge/{path}")).text)
    found.append(json.dumps(await portal.health()))
    return found


def kept(data: Path) -> list[bytes]:
    return [file.read_bytes() for file in data.rglob("*") if file.is_file()]


async def test_no_read_path_answers_with_a_secret_and_none_is_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with opened(notes(tmp_path), data, "embedded") as portal:
        texts = await answers(portal)
        assert not [each for each in texts if TOKEN in each]
        shown = (await portal.call("get_document", {"contentType": "tag", "id": "dao"})).structured
        assert shown["metadata"]["title"] == "Deploying with REDACTED"
        assert f"The gardener's token is [REDACTED: {KIND}]." in shown["content"]
        assert shown["content"].count("\n") == NOTE.split("---\n")[2].strip("\n").count("\n")
        found = (await portal.call("search_knowledge", {"query": TOKEN})).structured
        assert TOKEN not in json.dumps(found)
    assert not [text for text in kept(data) if TOKEN.encode() in text]


async def test_the_admin_learns_of_file_line_and_kind_once(tmp_path: Path) -> None:
    with capture_logs() as logged:
        async with opened(notes(tmp_path)) as portal:
            health = (await portal.health())["plugins"]["knowledge"]
    assert "Secrets were taken out of 1 note" in health["detail"]
    said = [f"kb/tags/dao.md:{line}: {KIND}: taken out; have it replaced" for line in LINES]
    assert health["facts"]["taken_out"] == said
    told = [one for one in logged if one["event"] == "secret_taken_out"]
    places = [(one["path"], one["line"], one["kind"]) for one in told]
    assert places == [("kb/tags/dao.md", line, KIND) for line in LINES]
    assert TOKEN not in json.dumps([health, told])


async def test_what_an_earlier_version_kept_is_gone_after_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    root = notes(tmp_path, broken=NOTE.replace("title:", "title: Broken"))
    with monkeypatch.context() as earlier:
        earlier.setattr(index, "COLLECTION", index.FORMER_COLLECTIONS[0])
        async with opened(root, data, "embedded", enabled=False) as portal:
            assert [each for each in await answers(portal) if TOKEN in each]
    assert [text for text in kept(data) if TOKEN.encode() in text]
    notes(tmp_path, broken="---\ntitle: a: b\n---\n")  # its older version is served on
    async with opened(root, data, "embedded") as portal:
        assert not [each for each in await answers(portal) if TOKEN in each]
        older = await portal.call("get_document", {"contentType": "tag", "id": "broken"})
        assert "[REDACTED: " in older.text
    assert not [text for text in kept(data) if TOKEN.encode() in text]


async def test_an_admin_has_a_source_served_as_it_is(tmp_path: Path) -> None:
    data, root = tmp_path / "data", notes(tmp_path)
    async with opened(root, data) as portal:
        assert TOKEN not in (await answers(portal))[0]
    async with opened(root, data, as_is=["knowledge/kb"]) as portal:
        shown = (await portal.call("get_document", {"contentType": "tag", "id": "dao"})).structured
        assert TOKEN in shown["content"]
        assert "taken_out" not in (await portal.health())["plugins"]["knowledge"]["facts"]
    async with opened(root, data, as_is=["knowledge/other"]) as portal:
        shown = (await portal.call("get_document", {"contentType": "tag", "id": "dao"})).structured
        assert TOKEN not in shown["content"]


async def test_porch_check_names_what_would_be_taken_out(tmp_path: Path) -> None:
    root = notes(tmp_path)
    async with opened(root) as portal:
        host = portal.running.plugins.host("knowledge")
        source = {"directory": str(root), "name": "kb"}
        config = KnowledgeConfig.model_validate({"sources": [source]})
        found = await check(config, host)
        said = f"{root / 'tags/dao.md'}:{LINES[0]}: {KIND}: taken out; have it replaced"
        assert [each.notice for each in found] == [True] * len(LINES)
        assert (found[0].location, found[0].reason) == (("sources", 0, "directory"), said)
        left = replace(host, scrub=replace(host.scrub, as_is=("knowledge/kb",)))
        assert await check(config, left) == []
