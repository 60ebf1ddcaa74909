"""Skills over the wire, and a repository that each caller reads with a token of their own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.mcp_client import McpClient
from gateway.testing import RequestRefused, TestPortal

ALICE = "ghp_alicesowntokenthatnobodyelsehas1"
MALLORY = "gho_mallorystokenthatisgoodelsewhere"
OPERATOR = "ghp_theoperatorstokenfortheindexonly"


async def test_every_file_of_every_skill_is_served_as_its_manifest_says(
    garden: Any, test_data: Path
) -> None:
    garden.root = test_data / "skills-repo-a"
    async with garden.opened(garden.source("house")) as portal:
        skills = await portal.skills()
        assert len(skills) == 103
        assert "skill://house/mcp-builder/SKILL.md" in skills
        for entry in list(skills.values())[::8]:
            for file in entry["resources"]:
                content = await portal.read_bytes(file["uri"])
                assert len(content) == file["size"]
                assert file["digest"] == "sha256:" + hashlib.sha256(content).hexdigest()


async def test_odd_names_of_files_are_served_too(garden: Any) -> None:
    garden.skill("pdf")
    odd = ["with space.md", "naïve-日本.md", "a+b&c=d.md", "sub dir/x.bin", "100%.md", "q?.md"]
    for name in odd:
        garden.write(f"skills/pdf/{name}", name.encode())
    async with garden.opened(garden.source("house")) as portal:
        entry = await portal.skill("skill://house/pdf/SKILL.md")
        assert len(entry["resources"]) == len(odd) + 1
        for file in entry["resources"]:
            content = await portal.read_bytes(file["uri"])
            assert file["digest"] == "sha256:" + hashlib.sha256(content).hexdigest()


async def test_skills_of_a_source_are_for_its_tier(garden: Any) -> None:
    garden.skill("pdf")
    rules = {"items": {"skills_repo": "open"}}
    async with garden.opened(garden.source("house", tier="members"), tiers=rules) as portal:
        uri = "skill://house/pdf/SKILL.md"
        assert set(await portal.skills()) == {uri}
        for tier in ("open", "public"):
            assert await portal.skills(tier) == {}
            with pytest.raises(RequestRefused):
                await portal.read(uri, tier=tier)
            with pytest.raises(RequestRefused):
                await portal.skill(uri, tier=tier)


# Sources that each caller reads with their own token.


def bearer(token: str) -> str:
    return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


@pytest.fixture
def private(garden: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A private repository that Alice and the operator may read."""
    monkeypatch.setenv("OPERATORS_TOKEN", OPERATOR)
    garden.skill("pdf", "Private words.")
    garden.skill("near", below="more")
    garden.github.repos["garden/tools"].tokens = {ALICE, OPERATOR}
    garden.github.tokens |= {ALICE, MALLORY, OPERATOR}
    return garden


def portal_of(garden: Any, **more: Any) -> Any:
    return garden.opened(
        garden.source("house", backend="github", credential="caller", tier="open"),
        garden.source("near", path="more", tier="open"),
        github={"token": "env:OPERATORS_TOKEN"},
        tiers={"items": {"skills_repo": "open"}},
        **more,
    )


async def get_skill(client: McpClient, name: str = "pdf") -> Mapping[str, Any]:
    return await client.call("get_skill", {"name": name})


def code(result: Mapping[str, Any]) -> str:
    assert result.get("isError"), result
    return str(json.loads(result["content"][1]["text"])["error"]["code"])


async def test_the_token_is_the_callers_in_the_header_or_as_the_bearer(private: Any) -> None:
    async with portal_of(private) as portal:
        by_header = portal.mcp("open", headers={"x-github-token": ALICE})
        assert not (await get_skill(by_header)).get("isError")
        assert private.github.last.headers["authorization"].endswith(ALICE)
        by_bearer = portal.mcp(
            "open", "skills_repo", headers={"authorization": f"Bearer {bearer(ALICE)}"}
        )
        assert not (await get_skill(by_bearer)).get("isError")
        padded = base64.urlsafe_b64encode(ALICE.encode()).decode()
        by_padded = portal.mcp("open", "skills_repo", headers={"authorization": f"Bearer {padded}"})
        assert not (await get_skill(by_padded)).get("isError")


async def test_without_a_token_the_answer_names_the_header(private: Any) -> None:
    async with portal_of(private) as portal:
        result = await get_skill(portal.mcp("open"))
        assert code(result) == "UNAUTHORIZED"
        assert "X-GitHub-Token" in result["content"][0]["text"]
        assert not (await get_skill(portal.mcp("open"), "near")).get("isError")


async def _status(portal: TestPortal, path: str, **headers: str) -> int:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = "application/json, text/event-stream"
    answer = await portal.http("open").post(
        path, json=message, headers={"accept": accept, **headers}
    )
    return answer.status_code


async def test_at_the_plugins_own_address_a_token_is_demanded_before_any_call(
    private: Any,
) -> None:
    async with portal_of(private) as portal:
        private.github.requests.clear()
        own = "/mcp/skills_repo"
        assert await _status(portal, own) == 401
        for wrong in ("not base64!", bearer("xoxb-slack"), bearer("ghs_server"), ALICE):
            assert await _status(portal, own, authorization=f"Bearer {wrong}") == 401
        assert await _status(portal, own, authorization=f"Bearer {bearer(ALICE)}") != 401
        assert await _status(portal, "/mcp", authorization=f"Bearer {bearer(ALICE)}") == 401
        assert private.github.requests == []


async def test_without_a_callers_source_that_form_is_not_taken(garden: Any) -> None:
    garden.skill("pdf")
    async with garden.opened(garden.source("house")) as portal:
        form = f"Bearer {bearer(ALICE)}"
        assert await _status(portal, "/mcp/skills_repo", authorization=form) == 401
        assert await _status(portal, "/mcp/skills_repo") != 401


async def test_what_one_caller_read_is_nobody_elses(private: Any) -> None:
    async with portal_of(private) as portal:
        alice = portal.mcp("open", headers={"x-github-token": ALICE})
        mallory = portal.mcp("open", headers={"x-github-token": MALLORY})
        unknown = portal.mcp("open", headers={"x-github-token": "ghp_revoked"})
        assert not (await get_skill(alice)).get("isError")
        assert code(await get_skill(mallory)) == "NOT_FOUND"
        assert code(await get_skill(unknown)) == "UNAUTHORIZED"
        private.github.repos["garden/tools"].forbidden.add(MALLORY)
        again = portal.mcp("open", headers={"x-github-token": MALLORY})
        assert (
            code(await again.call("get_skill", {"name": "pdf", "skipCache": True})) == "FORBIDDEN"
        )


async def test_prompts_and_served_skills_follow_the_same_rule(private: Any) -> None:
    async with portal_of(private) as portal:
        alice = portal.mcp("open", headers={"x-github-token": ALICE})
        nobody = portal.mcp("open")
        uri = {"uri": "skill://house/pdf/SKILL.md"}
        ask = {"name": "pdf", "arguments": {}}
        read = await alice.request("resources/read", uri)
        assert read["contents"][0]["text"].endswith("Private words.")
        assert "Private words." in json.dumps(await alice.request("prompts/get", ask))
        for method, params in (("resources/read", uri), ("prompts/get", ask)):
            with pytest.raises(RequestRefused, match="X-GitHub-Token"):
                await nobody.request(method, params)


async def test_the_index_is_built_with_the_operators_token_and_never_a_callers(
    private: Any,
) -> None:
    async with portal_of(private) as portal:
        asked = {
            one.headers.get("authorization", "")[-len(ALICE) :] for one in private.github.requests
        }
        assert asked - {""} == {OPERATOR}  # A tarball lies at an address that needs none.
        await get_skill(portal.mcp("open", headers={"x-github-token": ALICE}))
        assert OPERATOR not in private.github.last.headers["authorization"]


async def test_a_callers_token_is_nowhere_after_a_run(
    private: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    said = []
    async with portal_of(private, data_dir=data) as portal:
        for token in (ALICE, MALLORY):
            for client in (
                portal.mcp("open", headers={"x-github-token": token}),
                portal.mcp(
                    "open", "skills_repo", headers={"authorization": f"Bearer {bearer(token)}"}
                ),
            ):
                said.append(json.dumps(await get_skill(client)))
                for trouble in (500, 403):
                    private.github.failing = trouble
                    arguments = {"name": "pdf", "skipCache": True}
                    said.append(json.dumps(await client.call("get_skill", arguments)))
                private.github.answers()
        said.append((await portal.get("/metrics", tier="members")).text)
        said.append(json.dumps(await portal.health()))
    said += capfd.readouterr()
    written = [path for path in data.rglob("*") if path.is_file()]
    assert written
    for token in (ALICE, MALLORY, bearer(ALICE), bearer(MALLORY), OPERATOR):
        for text in said:
            assert token not in text
        for path in written:
            assert token.encode() not in path.read_bytes(), path.name
