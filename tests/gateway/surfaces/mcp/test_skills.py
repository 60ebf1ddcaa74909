"""The MCP Skills extension on the wire, in both eras."""

import base64
import hashlib
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auth import Tier
from gateway.contract import Offer, Plugin, Skill, SkillFile, hookimpl
from gateway.observability.audit_record import AuditRecord
from gateway.surfaces.mcp import lists as listing
from gateway.testing import PluginContract, RequestRefused, open_test_portal
from tests.gateway.surfaces.http.test_challenges import asked

EXTENSION = "io.modelcontextprotocol/skills"
BAKE, SECRET = "skill://house/bake", "skill://house/secret"
FILES = {
    "SKILL.md": b"\xef\xbb\xbf---\r\nname: bake\r\ndescription: Bakes.\r\n---\r\n\xe2\x80\xa8\x7f",
    "notes/\u00d6fen.md": "Öfen\n".encode("utf-16-le"),
    "scripts/run.sh": b"#!/bin/sh\n",
    "assets/empty": b"",
    "assets/nul": b"a\0b",
}
FRONTMATTER = {"name": "bake", "description": "Bakes.", "license": "MIT", "x": {"deep": [1, None]}}
TIERS = {
    "default": "open",
    "items": {
        "shelf/resource:skill://house/secret/*": "members",
        "shelf/resource:skill://house/unseen/*": {"tier": "members", "hidden": True},
    },
}
SECOND = "skill://house/second/SKILL.md"


def _file(path: str, raw: bytes, mime_type: str = "text/markdown") -> SkillFile:
    return SkillFile(path, hashlib.sha256(raw).hexdigest(), len(raw), mime_type)


def _skill(name: str, files: dict[str, bytes], **frontmatter) -> Skill:
    async def read(path, caller):
        return files[path]

    said = {"name": name, "description": f"Does {name}."} | frontmatter
    return Skill(f"house/{name}", said, [_file(*each) for each in files.items()], read)


@asynccontextmanager
async def _open(config, host):
    plain = {"SKILL.md": b"---\nname: it\n---\n"}
    bake = replace(_skill("bake", FILES), frontmatter=FRONTMATTER)

    async def changed(path, caller):
        return b"other"

    yield Offer(
        skills=[
            bake,
            *(_skill(name, plain) for name in ("secret", "unseen")),
            replace(_skill("stale", plain), read=changed),
        ]
    )


@hookimpl
def porch_plugin():
    return Plugin("shelf", "Holds skills.", _open)


class Tidy:
    """The same without what a plugin must not do."""

    @hookimpl
    def porch_plugin(self):
        @asynccontextmanager
        async def opened(config, host):
            async with _open(config, host) as offer:
                nested = {"SKILL.md": b"outer", "inner/SKILL.md": b"inner"}
                around = _skill("outer", nested)
                within = replace(_skill("inner", {"SKILL.md": b"inner"}), path="house/outer/inner")
                yield replace(offer, skills=[*offer.skills[:3], around, within])

        return Plugin("tidy", "Holds skills.", opened)


class TestShelf(PluginContract):
    plugin = Tidy()


@pytest.fixture(scope="module")
async def shelf():
    async with open_test_portal(sys.modules[__name__], tiers=TIERS) as portal:
        yield portal


@pytest.fixture
async def reply(moods, shelf):
    """Asks in an era, as a tier: the whole message."""

    async def ask(era, method, params=None, tier="open", headers=None):
        wire = moods.Wire(shelf, tier)
        if era == moods.MODERN:
            return await wire.modern(method, params, headers).reply()
        return await (await wire.begin()).legacy(method, params, headers).reply()

    return ask


ERAS = ["2026-07-28", "2025-11-25"]
both = pytest.mark.parametrize("era", ERAS)


async def test_the_extension_is_declared_in_each_era_s_own_place(moods, shelf):
    wire = moods.Wire(shelf)
    declared = (await wire.modern("server/discover").reply())["result"]["capabilities"]
    assert declared["extensions"][EXTENSION] == {"directoryRead": True}
    assert "resources" in declared
    params = {"protocolVersion": moods.LEGACY, "capabilities": {}, "clientInfo": {}}
    params["clientInfo"] = {"name": "test", "version": "1"}
    begun = await wire.send(wire.message("initialize", params)).reply()
    declared = begun["result"]["capabilities"]
    assert declared["experimental"] == {EXTENSION: {"directoryRead": True}}


@both
async def test_the_list_has_whole_manifests_and_frontmatter_word_for_word(reply, era):
    result = (await reply(era, "skills/list"))["result"]
    assert [each["uri"] for each in result["skills"]] == [
        f"{BAKE}/SKILL.md",
        "skill://house/stale/SKILL.md",
    ]
    assert (result["ttlMs"], result["cacheScope"]) == (60_000, "private")
    assert result.get("resultType") == ("complete" if era == ERAS[0] else None)
    assert ("_meta" in result) == (era == ERAS[0])
    skill = result["skills"][0]
    assert skill["frontmatter"] == FRONTMATTER
    assert skill["resources"][1] == {
        "uri": f"{BAKE}/notes/%C3%96fen.md",
        "digest": f"sha256:{hashlib.sha256(FILES['notes/Öfen.md']).hexdigest()}",
        "size": 10,
    }
    assert len(skill["resources"]) == len(FILES)
    assert (await reply(era, "skills/get", {"uri": skill["uri"]}))["result"]["skill"] == skill


@both
async def test_each_file_is_read_byte_for_byte(shelf, era, moods):
    for path, raw in FILES.items():
        assert await shelf.read_bytes(f"{BAKE}/{path.replace('Ö', '%C3%96')}") == raw


async def test_what_is_no_text_comes_as_a_blob(reply):
    kinds = {}
    for path in FILES:
        params = {"uri": f"{BAKE}/{path}"}
        headers = {"mcp-name": "=?base64?" + _base64(params["uri"]) + "?="}
        message = await reply(ERAS[0], "resources/read", params, headers=headers)
        (content,) = message["result"]["contents"]
        kinds[path] = "text" if "text" in content else "blob"
        assert content["mimeType"] == "text/markdown"
    assert kinds == {
        "SKILL.md": "text",
        "notes/Öfen.md": "blob",
        "scripts/run.sh": "text",
        "assets/empty": "text",
        "assets/nul": "blob",
    }


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@both
async def test_resources_list_shows_the_skill_file_of_each(reply, era):
    (first, _) = (await reply(era, "resources/list"))["result"]["resources"]
    assert first == {
        "uri": f"{BAKE}/SKILL.md",
        "name": "bake",
        "description": "Bakes.",
        "mimeType": "text/markdown",
        "size": len(FILES["SKILL.md"]),
    }


@both
async def test_directories_are_read_level_by_level(reply, era):
    async def children(uri):
        result = (await reply(era, "resources/directory/read", {"uri": uri}))["result"]
        assert result.get("resultType") == ("complete" if era == ERAS[0] else None)
        assert "nextCursor" not in result
        assert (result["ttlMs"], result["cacheScope"]) == (60_000, "private")
        return {each["name"]: each for each in result["resources"]}

    assert set(await children("skill://house")) == {"bake", "stale"}
    root = await children(BAKE)
    assert set(root) == {"bake", "assets", "notes", "scripts"}
    assert root["bake"]["uri"] == f"{BAKE}/SKILL.md"
    assert root["notes"] == {
        "uri": f"{BAKE}/notes",
        "name": "notes",
        "mimeType": "inode/directory",
    }
    assert (await children(f"{BAKE}/scripts"))["run.sh"] == {
        "uri": f"{BAKE}/scripts/run.sh",
        "name": "run.sh",
        "mimeType": "text/markdown",
        "size": 10,
    }


@both
@pytest.mark.parametrize(
    ("method", "uri", "message"),
    [
        ("skills/get", "skill://house/none/SKILL.md", "No skill is served at {}"),
        ("skills/get", BAKE, "No skill is served at {}"),
        ("skills/get", "skill://house/unseen/SKILL.md", "No skill is served at {}"),
        ("resources/directory/read", f"{BAKE}/SKILL.md", "{} is not a directory resource"),
        ("resources/directory/read", f"{BAKE}/", "{} is not a directory resource"),
        ("resources/directory/read", "skill://house/unseen", "{} is not a directory resource"),
        ("skills/get", f"{SECRET}/SKILL.md", "Requires members access. Current: open."),
        ("resources/directory/read", SECRET, "Requires members access. Current: open."),
    ],
)
async def test_what_is_not_there_for_a_caller_is_an_invalid_parameter(
    reply, era, method, uri, message
):
    error = (await reply(era, method, {"uri": uri}))["error"]
    assert error["code"] == -32602
    assert error["message"].startswith(message.format(uri))


@both
async def test_a_file_that_is_not_served_is_an_unknown_resource(reply, era):
    for uri in (f"{BAKE}/none.md", "skill://house/unseen/SKILL.md"):
        error = (await reply(era, "resources/read", {"uri": uri}))["error"]
        assert error["code"] == (-32602 if era == ERAS[0] else -32002)
        assert error["message"] == f"Unknown resource: {uri}"


@both
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("skills/get", {}),
        ("skills/get", {"uri": 7}),
        ("skills/get", {"uri": None}),
        ("skills/list", {"cursor": 7}),
        ("skills/list", {"cursor": "made-up"}),
        ("resources/directory/read", {}),
        ("resources/directory/read", {"uri": BAKE, "cursor": []}),
        ("resources/directory/read", {"uri": BAKE, "cursor": "ZnJvbToyNTA="}),
    ],
)
async def test_parameters_of_another_shape_are_refused(reply, era, method, params):
    assert (await reply(era, method, params))["error"]["code"] == -32602


@both
async def test_an_unknown_method_of_the_extension_is_unknown(reply, era):
    assert (await reply(era, "skills/run"))["error"]["code"] == -32601


async def test_members_see_what_others_do_not(shelf):
    assert len(await shelf.skills()) == 4
    assert len(await shelf.skills("public")) == 2
    assert set(await shelf.directory("skill://house")) > {SECRET, "skill://house/unseen"}


async def test_a_file_that_is_not_what_the_manifest_says_is_not_handed_out(shelf):
    with pytest.raises(RequestRefused, match="has changed since the skill was listed") as refused:
        await shelf.read("skill://house/stale/SKILL.md")
    assert refused.value.code == -32602


async def test_calls_are_recorded_as_those_of_a_skill(shelf, monkeypatch):
    records: list[AuditRecord] = []
    monkeypatch.setattr(shelf.running.audit, "write", records.append)
    await shelf.read(f"{BAKE}/scripts/run.sh")
    await shelf.skill(f"{BAKE}/SKILL.md")
    for method in ("skills/get", "resources/read"):
        with pytest.raises(RequestRefused):
            await shelf.mcp("open").request(method, {"uri": f"{SECRET}/SKILL.md"})
    assert [(each.kind, each.item, each.outcome) for each in records] == [
        ("skill", f"shelf/resource:{BAKE}/SKILL.md", "ok"),
        ("skill", f"shelf/resource:{BAKE}/SKILL.md", "ok"),
        ("skill", f"shelf/resource:{SECRET}/SKILL.md", "not_allowed"),
        ("resource", f"shelf/resource:{SECRET}/SKILL.md", "not_allowed"),
    ]


async def test_lists_come_in_pages_and_no_skill_is_split(moods, monkeypatch):
    monkeypatch.setattr(listing, "SKILLS_PER_PAGE", 40)
    monkeypatch.setattr(listing, "ENTRIES_PER_PAGE", 60)
    plain = {"SKILL.md": b"it"}

    class Many:
        @hookimpl
        def porch_plugin(self):
            @asynccontextmanager
            async def opened(config, host):
                yield Offer(skills=[_skill(f"n{n}", plain) for n in range(100)])

            return Plugin("many", "Holds skills.", opened)

    async with open_test_portal(Many(), tiers="default: open") as portal:
        first = await portal.mcp().request("skills/list", {})
        assert len(first["skills"]) == 40
        assert len(await portal.skills()) == 100
        assert len(await portal.directory("skill://house")) == 100
        assert len(await portal.resources()) == 100


async def test_a_token_for_named_tools_reads_no_skill(shelf):
    person = await shelf.sign_in("ann")
    _, token = await shelf.running.authentication.api_tokens.create(
        person.id,
        "narrow",
        ceiling=Tier.MEMBERS,
        expires=datetime.now(UTC) + timedelta(days=1),
        tools=frozenset({"some_tool"}),
    )
    client = shelf.mcp("open", headers={"authorization": f"Bearer {token}"})
    assert await client.list("skills") == []
    with pytest.raises(RequestRefused, match="may be used for some_tool only"):
        await client.request("skills/get", {"uri": f"{BAKE}/SKILL.md"})


async def test_a_call_above_the_tier_can_start_a_sign_in():
    config = {"sign_in": {"challenge": "http"}}
    module = sys.modules[__name__]
    async with open_test_portal(module, config=config, tiers=TIERS) as portal:
        for method, uri in (
            ("skills/get", f"{SECRET}/SKILL.md"),
            ("resources/directory/read", SECRET),
            ("resources/read", f"{SECRET}/SKILL.md"),
        ):
            answer = await asked(portal, method, {"uri": uri})
            assert answer.status_code == 401, method
            assert 'scope="members"' in answer.headers["www-authenticate"]


async def test_a_skill_that_changes_can_be_followed(shelf, moods):
    session = await moods.Wire(shelf).begin()
    good = await session.legacy("resources/subscribe", {"uri": f"{BAKE}/scripts/run.sh"}).reply()
    assert good["result"] == {}
    bad = await session.legacy("resources/subscribe", {"uri": f"{SECRET}/SKILL.md"}).reply()
    assert bad["error"]["code"] == -32002
