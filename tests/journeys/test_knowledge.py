"""A community writes on GitHub, and its agents remember: the portal follows, and tells apart."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faults.conftest import Place, Portal, eventually
from tests.faults.conftest import place as place
from tests.journeys.balancer import Member
from tests.journeys.member import plain_client, said
from tests.journeys.world import ERAS
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

NAME = "civic/kb"
SECRET = "the-webhooks-secret"
API = "/openspec/v1/knowledge"
CONFIG = """
services: {{embedding: none}}
plugins:
  knowledge:
    sources: [{{github: {name}}}]
    github: {{api_url: "{api}", webhook_secret: "env:KNOWLEDGE_HOOK"}}
"""
TIERS = """
access: {public: {any_of: [signed_in]}}
items: {knowledge: open}
"""
_deliveries = itertools.count(1)


@pytest.fixture
def github() -> Iterator[GithubContents]:
    with GithubContents() as server:
        yield server


@pytest.fixture
def history(github: GithubContents, tmp_path: Path, test_data: Path) -> History:
    """A real knowledge base on GitHub."""
    begun = History.begun(tmp_path / "kb")
    root = test_data / "civic-kb" / "repo"
    notes = {str(note.relative_to(root)): note.read_bytes() for note in root.rglob("*.md")}
    begun.commit(notes)
    github.repos[NAME] = Repo(begun.directory, history=begun)
    return begun


@pytest.fixture
def following(place: Place, github: GithubContents, history: History) -> Place:
    """A portal's directory whose knowledge base is that on GitHub."""
    place.configure(CONFIG.format(name=NAME, api=github.url))
    (place.root / "config" / "tiers.yaml").write_text(TIERS)
    return place


def served(place: Place) -> Portal:
    return place.serve(KNOWLEDGE_HOOK=SECRET)


def push(portal: Portal, history: History, before: str) -> None:
    """Tell the portal of the newest commit, as GitHub does."""
    raw = json.dumps(history.push(before, history.git("rev-parse", "HEAD"), NAME)).encode()
    headers = {
        "content-type": "application/json",
        "x-github-event": "push",
        "x-github-delivery": f"delivery-{next(_deliveries)}",
        "x-hub-signature-256": "sha256="
        + hmac.new(SECRET.encode(), raw, hashlib.sha256).hexdigest(),
    }
    answer = httpx2.post(
        f"{portal.url}/hooks/knowledge/github", content=raw, headers=headers, timeout=60
    )
    assert answer.status_code == 200, answer.text


def note(word: str) -> bytes:
    text = f"---\ntype: pattern\ntitle: {word}\npublish: true\ndate: 2026-01-02\n---\nA {word}.\n"
    return text.encode()


def finds(portal: Portal, word: str) -> list[str]:
    return [each["id"] for each in portal.search(word) if each["title"] == word]


def total(portal: Portal) -> int:
    answer: dict[str, Any] = portal.get("/api/v1/entries?limit=1").json()
    return int(answer["total"])


def test_a_push_is_found_a_deletion_is_not_and_a_kill_changes_nothing(
    following: Place, history: History
) -> None:
    """Without the webhook's reach while it is down, the start alone finds what is new."""
    portal = served(following).ready()
    before = total(portal)
    assert before > 500
    first = history.git("rev-parse", "HEAD")
    history.commit({"artifacts/patterns/quincunx.md": note("Quincunx")})
    push(portal, history, first)
    eventually(lambda: finds(portal, "Quincunx") == ["quincunx"], "the push is found")
    assert total(portal) == before + 1

    # Killed at some moment of a push of many files, and once more while it catches up.
    second = history.git("rev-parse", "HEAD")
    many = {f"artifacts/patterns/bed-{n}.md": note(f"Bedrock{n}") for n in range(60)}
    history.commit({**many, "artifacts/patterns/quincunx.md": None})
    push(portal, history, second)
    time.sleep(0.3)
    portal.kill()
    portal = served(following)
    eventually(lambda: portal.get("/readyz").status_code in {200, 503}, "it answers")
    portal.kill()
    portal = served(following).ready()
    eventually(lambda: total(portal) == before + 60, "everything of the push is there, once")
    assert finds(portal, "Quincunx") == []
    assert all(finds(portal, f"Bedrock{n}") == [f"bed-{n}"] for n in range(0, 60, 7))
    assert portal.stop() == 0
    assert "Traceback" not in portal.printed


def someone(portal: Portal) -> str:
    """A token of somebody new who has signed in."""
    with Member(portal, portal.url) as person:
        person.sign_in()
        return person.api_token()


@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_remembers_over_mcp_and_rest_and_sees_nothing_of_another_person(
    following: Place, era: str
) -> None:
    portal = served(following).ready()
    ana, ben = someone(portal), someone(portal)
    address = f"{portal.url}/mcp"
    rest = httpx2.AsyncClient(base_url=portal.url + API, timeout=60, trust_env=False)
    async with (
        plain_client(address, ana, era) as hers,
        plain_client(address, ben, era) as his,
        rest,
    ):
        kept = await hers.call_tool("remember", {"content": "The pump's valve sticks in frost."})
        assert not kept.is_error, said(kept)
        id = kept.structured_content["id"]
        changed = await hers.call_tool(
            "update_memory", {"id": id, "content": "The pump's valve was replaced.", "version": 1}
        )
        assert not changed.is_error, said(changed)

        async def asked(token: str, word: str) -> list[str]:
            answer = await rest.post(
                "/query",
                json={"query": word, "mode": "keyword"},
                headers={"authorization": f"Bearer {token}"},
            )
            assert answer.status_code == 200, answer.text
            found = [each["entry"]["id"] for each in answer.json()["results"]]
            return [each for each in found if each.startswith("mem_")]

        assert await asked(ana, "valve") == [id]
        past = await hers.call_tool("memory_history", {"id": id})
        assert [each["version"] for each in past.structured_content["data"]] == [2, 1]
        assert await asked(ben, "valve") == []
        for tool in ("memory_history", "forget"):
            refused = await his.call_tool(tool, {"id": id})
            assert refused.is_error
            assert "There is no such entry" in said(refused)
        mine, theirs = ({"authorization": f"Bearer {token}"} for token in (ana, ben))
        told = await rest.get(f"/{id}/metadata", headers=mine)
        assert len(told.json()["version_history"]) == 2
        hidden = await rest.get(f"/{id}/metadata", headers=theirs)
        assert (hidden.status_code, hidden.json()["error"]["code"]) == (404, 404)
        assert (await rest.delete(f"/{id}", headers=mine)).json()["deleted"]
        assert await asked(ana, "valve") == []
