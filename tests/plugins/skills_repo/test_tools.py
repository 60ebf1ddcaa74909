"""The tools as the requirements name them, over a directory and over GitHub alike."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import jsonschema_rs
import pytest

from gateway.testing import CallResult, TestPortal
from tests.plugins.skills_repo.waiting import entries

BACKENDS = pytest.mark.parametrize("backend", ["local", "github"])


def error_of(result: CallResult) -> dict[str, Any]:
    assert result.is_error, result.text
    error: dict[str, Any] = json.loads(result.content[1]["text"])["error"]
    return error


async def code_of(portal: TestPortal, tool: str, /, **arguments: Any) -> str:
    return str(error_of(await portal.call(tool, arguments))["code"])


def fill(garden: Any) -> None:
    garden.skill("pdf", argument_hint="[file]", user_invocable="false", license="MIT")
    garden.write("skills/pdf/references/forms.md", "# Forms")
    garden.write("skills/pdf/logo.png", b"\x89PNG\x00\xff")
    garden.write("skills/bare/SKILL.md", "No frontmatter here.")
    garden.skill("group/deep", name="deep")
    garden.write(
        "agents/reviewer.md",
        "---\nname: team-reviewer\ndescription: Reviews.\nmodel: opus\n"
        "tools: Read, Bash(git add:*), Grep\n---\nReview.",
    )
    garden.write("agents/plain.md", "Just text.")
    garden.write("agents/listed.md", "---\nallowed-tools: [Read, Grep]\n---\n")
    garden.write("agents/README.md", "# About these agents")
    garden.write("docs/index.md", "---\ntitle: Home\n---\nHi")
    garden.write("docs/guide/index.md", "---\ndescription: The guide.\n---\n")
    garden.write("docs/guide/start.mdx", "# Start here\n")
    garden.write("docs/both.md", "The page.")
    garden.write("docs/both/inner.md", "Inner.")


def sources(garden: Any, backend: str) -> list[Any]:
    return [
        garden.source("house", "skills", backend),
        garden.source("crew", "agents", backend),
        garden.source("handbook", "docs", backend),
    ]


@BACKENDS
async def test_list_skills_has_every_field_of_every_skill(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        garden.github.requests.clear()
        listed = await entries(portal)
        assert [each["name"] for each in listed] == ["bare", "deep", "pdf"]
        assert listed[0] == {
            "name": "bare",
            "description": None,
            "argumentHint": None,
            "userInvocable": True,
            "files": [],
            "source": "house",
            "directory": "bare",
        }
        assert listed[2] == {
            "name": "pdf",
            "description": "About pdf.",
            "argumentHint": "[file]",
            "userInvocable": False,
            "files": ["logo.png", "references/forms.md"],
            "source": "house",
            "directory": "pdf",
        }
        assert garden.github.requests == []


@BACKENDS
async def test_get_skill_gives_the_text_by_folder_and_by_name(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        found = (await portal.call("get_skill", {"name": "pdf"})).structured
        content = (garden.root / "skills/pdf/SKILL.md").read_bytes()
        header = b"blob %d\0" % len(content)
        assert found == {
            "name": "pdf",
            "content": content.decode(),
            "path": "skills/pdf/SKILL.md",
            "sha": hashlib.sha1(header + content).hexdigest(),
            "source": "house",
            "stale": False,
            "files": [
                {"path": "SKILL.md", "size": len(content), "kind": "text/markdown"},
                {"path": "logo.png", "size": 6, "kind": "image/png"},
                {"path": "references/forms.md", "size": 7, "kind": "text/markdown"},
            ],
            "uses": {"days": 30, "times": 1, "people": 1},
        }
        for name in ("deep", "group/deep"):
            deep = (await portal.call("get_skill", {"name": name})).structured
            assert (deep["name"], deep["path"]) == (name, "skills/group/deep/SKILL.md")


@BACKENDS
async def test_get_skill_file_gives_the_bytes_in_base64(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        arguments = {"skill": "pdf", "file": "logo.png"}
        found = (await portal.call("get_skill_file", arguments)).structured
        assert base64.b64decode(found["content"]) == b"\x89PNG\x00\xff"
        assert (found["encoding"], found["size"]) == ("base64", 6)
        assert found["path"] == "skills/pdf/logo.png"
        assert "text" not in found


@BACKENDS
async def test_what_is_text_is_said_as_it_is_and_not_as_json(garden: Any, backend: str) -> None:
    fill(garden)
    garden.write("skills/pdf/zero.txt", b"a\0b")
    async with garden.opened(*sources(garden, backend)) as portal:
        schemas = {name: each["outputSchema"] for name, each in (await portal.tools()).items()}
        for tool, arguments, file in (
            ("get_skill", {"name": "pdf"}, "skills/pdf/SKILL.md"),
            ("get_skill_file", {"skill": "pdf", "file": "references/forms.md"}, None),
            ("get_agent", {"name": "plain"}, "agents/plain.md"),
            ("get_doc", {"path": ["both"]}, "docs/both.md"),
        ):
            result = await portal.call(tool, arguments)
            jsonschema_rs.validate(schemas[tool], result.structured)
            wanted = (garden.root / (file or "skills/pdf/references/forms.md")).read_text()
            assert [each["text"] for each in result.content] == [wanted]
            assert result.structured["content" if file else "text"] == wanted
        forms = {"skill": "pdf", "file": "references/forms.md"}
        seen = (await portal.call("get_skill_file", forms)).structured
        assert base64.b64decode(seen["content"]) == b"# Forms"
        for name in ("logo.png", "zero.txt"):
            raw = await portal.call("get_skill_file", {"skill": "pdf", "file": name})
            assert json.loads(raw.text) == raw.structured
            assert "text" not in raw.structured


async def test_a_kept_copy_is_said_to_be_one_in_the_text_too(garden: Any) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, "github"), cache="1ms") as portal:
        fresh = await portal.call("get_skill", {"name": "pdf"})
        garden.github.failing = 503
        kept = await portal.call("get_skill", {"name": "pdf", "skipCache": True})
        assert kept.structured["stale"]
        assert kept.text.startswith("(GitHub does not answer now")
        assert kept.text.endswith(f"\n\n{fresh.text}")


@BACKENDS
async def test_agents_are_found_by_file_and_by_frontmatter_name(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        listed = {a["file"]: a for a in await entries(portal, "list_agents")}
        assert set(listed) == {"listed", "plain", "reviewer"}
        assert listed["reviewer"] == {
            "name": "team-reviewer",
            "description": "Reviews.",
            "model": "opus",
            "allowedTools": ["Read", "Bash(git add:*)", "Grep"],
            "source": "crew",
            "file": "reviewer",
        }
        assert listed["listed"]["allowedTools"] == ["Read", "Grep"]
        plain = listed["plain"]
        assert (plain["name"], plain["description"], plain["allowedTools"]) == ("plain", None, None)
        for name in ("reviewer", "team-reviewer"):
            found = (await portal.call("get_agent", {"name": name})).structured
            assert (found["name"], found["path"]) == (name, "agents/reviewer.md")
            assert found["content"].endswith("Review.")
            assert len(found["sha"]) == 40


@BACKENDS
async def test_list_docs_is_a_tree_and_each_leaf_can_be_read(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        assert (await portal.call("list_docs")).structured["docs"] == {
            "index": "Home",
            "guide": {"index": "The guide.", "start": "Start here"},
            "both.md": None,
            "both": {"inner": None},
        }
        wanted = {
            ("index",): "docs/index.md",
            ("guide", "index"): "docs/guide/index.md",
            ("guide",): "docs/guide/index.md",
            ("guide", "start"): "docs/guide/start.mdx",
            ("both.md",): "docs/both.md",
            ("both",): "docs/both.md",
            ("both", "inner"): "docs/both/inner.md",
            (): "docs/index.md",
        }
        for path, file in wanted.items():
            found = (await portal.call("get_doc", {"path": list(path)})).structured
            assert (found["path"], found["filePath"]) == (list(path), file)
            assert found["content"] == (garden.root / file).read_text()


@BACKENDS
async def test_what_is_newer_than_the_index_is_read_all_the_same(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        garden.skill("fresh")
        garden.write("agents/fresh.md", "New.")
        (garden.root / "docs/guide/index.md").unlink()
        garden.write("docs/guide.mdx", "Moved.")
        assert not (await portal.call("get_skill", {"name": "fresh"})).is_error
        assert not (await portal.call("get_agent", {"name": "fresh"})).is_error
        moved = await portal.call("get_doc", {"path": ["guide"]})
        assert moved.structured["filePath"] == "docs/guide.mdx"


async def test_get_doc_tries_four_files_in_their_order(garden: Any) -> None:
    async with garden.opened(*sources(garden, "github")) as portal:
        garden.write("docs/another.md", "The index is behind now.")
        garden.github.requests.clear()
        assert await code_of(portal, "get_doc", path=["new", "page"]) == "NOT_FOUND"
        before = "/repos/garden/tools/contents/"
        tried = [each.removeprefix(before) for each in garden.github.asked if before in each]
        base = "docs/new/page"
        assert tried == [f"{base}/index.md", f"{base}.md", f"{base}/index.mdx", f"{base}.mdx"]


@BACKENDS
async def test_a_path_that_leads_elsewhere_is_refused_unasked(garden: Any, backend: str) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, backend)) as portal:
        garden.github.requests.clear()
        for bad in ("../x", "/etc/passwd", "a\\b", "a/../b", "%2e%2e/x", "a\0b", "", "a//b"):
            for tool, arguments in (
                ("get_skill", {"name": bad}),
                ("get_skill_file", {"skill": bad, "file": "a.md"}),
                ("get_skill_file", {"skill": "pdf", "file": bad}),
                ("get_agent", {"name": bad}),
                ("get_doc", {"path": ["guide", bad]}),
            ):
                assert await code_of(portal, tool, **arguments) == "INVALID_PATH", (tool, bad)
        assert garden.github.requests == []


@BACKENDS
async def test_what_is_not_there_says_where_it_was_looked_for(garden: Any, backend: str) -> None:
    async with garden.opened(*sources(garden, backend)) as portal:
        error = error_of(await portal.call("get_skill", {"name": "none"}))
        assert error["code"] == "NOT_FOUND"
        assert error["details"]["path"] == "skills/none/SKILL.md"
        assert error["message"].endswith(" `list_skills` names the skills there are.")
        if backend == "github":
            assert error["details"]["repo"] == "garden/tools"
            assert error["details"]["branch"] == "main"
            garden.skill("fresh")
            behind = error_of(await portal.call("get_skill", {"name": "none", "skipCache": True}))
            assert behind["details"]["repo"] == "garden/tools"


async def said(portal: TestPortal, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """An answer, but for how often it was asked for."""
    answer: dict[str, Any] = (await portal.call(tool, arguments)).structured
    return {name: value for name, value in answer.items() if name != "uses"}


async def test_a_file_is_kept_until_it_is_asked_for_anew(garden: Any) -> None:
    fill(garden)
    async with garden.opened(*sources(garden, "github")) as portal:
        for tool, arguments, file in (
            ("get_skill", {"name": "pdf"}, "skills/pdf/SKILL.md"),
            ("get_skill_file", {"skill": "pdf", "file": "logo.png"}, "skills/pdf/logo.png"),
            ("get_agent", {"name": "plain"}, "agents/plain.md"),
            ("get_doc", {"path": ["guide"]}, "docs/guide/index.md"),
        ):
            before = await said(portal, tool, arguments)
            garden.write(file, "changed")
            assert await said(portal, tool, arguments) == before
            fresh = await said(portal, tool, {**arguments, "skipCache": True})
            assert fresh["sha"] != before["sha"]
            assert await said(portal, tool, arguments) == fresh
            assert garden.github.asked[f"/repos/garden/tools/contents/{file}"] == 2


async def test_a_name_in_two_sources_is_told_apart_by_the_source(garden: Any) -> None:
    garden.skill("pdf")
    garden.skill("pdf", "Another.", below="more")
    garden.write("agents/a.md", "One.")
    garden.write("others/a.md", "Two.")
    async with garden.opened(
        garden.source("house"),
        garden.source("guests", path="more"),
        garden.source("crew", "agents"),
        garden.source("others", "agents", path="others"),
    ) as portal:
        listed = await entries(portal)
        assert [(each["name"], each["source"]) for each in listed] == [
            ("pdf", "house"),
            ("pdf", "guests"),
        ]
        error = error_of(await portal.call("get_skill", {"name": "pdf"}))
        assert error["details"]["sources"] == ["house", "guests"]
        assert await code_of(portal, "get_agent", name="a") == "NOT_FOUND"
        found = (await portal.call("get_skill", {"name": "pdf", "source": "guests"})).structured
        assert found["content"].endswith("Another.")
        only = await entries(portal, source="guests")
        assert [each["source"] for each in only] == ["guests"]
        assert await code_of(portal, "list_skills", source="nobody") == "NOT_FOUND"


async def test_two_skills_of_one_name_in_a_source_are_asked_for_by_folder(garden: Any) -> None:
    garden.skill("a/pdf", "First.")
    garden.skill("b/pdf", "Second.")
    async with garden.opened(garden.source("house")) as portal:
        error = error_of(await portal.call("get_skill", {"name": "pdf"}))
        assert error["details"]["names"] == ["a/pdf", "b/pdf"]
        found = await portal.call("get_skill", {"name": "b/pdf"})
        assert found.structured["content"].endswith("Second.")


async def test_several_docs_sources_stand_under_their_names(garden: Any) -> None:
    garden.write("docs/a.md", "One.")
    garden.write("more/a.md", "Two.")
    garden.write("more/b.md", "Three.")
    async with garden.opened(
        garden.source("handbook", "docs"), garden.source("notes", "docs", path="more")
    ) as portal:
        docs = (await portal.call("list_docs")).structured["docs"]
        assert docs == {"handbook": {"a": None}, "notes": {"a": None, "b": None}}
        read = await portal.call("get_doc", {"path": ["notes", "a"]})
        assert read.structured["content"] == "Two."
        assert await code_of(portal, "get_doc", path=["a"]) == "NOT_FOUND"
        assert (await portal.call("get_doc", {"path": ["b"]})).structured["source"] == "notes"


@pytest.mark.parametrize("tier", ["open", "public", "members"])
async def test_a_source_is_as_if_not_there_below_its_tier(garden: Any, tier: str) -> None:
    garden.skill("plain")
    garden.skill("secret", below="hidden")
    garden.write("agents/a.md", "x")
    garden.write("docs/a.md", "x")
    rules = {"default": "open", "items": {"skills_repo": "open"}}
    async with garden.opened(
        garden.source("house", tier="open"),
        garden.source("inner", path="hidden", tier="members"),
        garden.source("crew", "agents", tier="members"),
        garden.source("handbook", "docs", tier="members"),
        tiers=rules,
    ) as portal:
        member = tier == "members"
        listed = await entries(portal, tier=tier)
        assert [each["name"] for each in listed] == ["plain"] + ["secret"] * member
        found = (await portal.call("search_skills", {"query": "secret"}, tier=tier)).structured
        assert [each["name"] for each in found["results"]] == ["secret"] * member
        shown = {"plain", "secret"} if member else {"plain"}
        assert set(await portal.prompts(tier)) == shown
        agents = await entries(portal, "list_agents", tier=tier)
        docs = (await portal.call("list_docs", tier=tier)).structured["docs"]
        assert (bool(agents), bool(docs)) == (member, member)
        for tool, arguments in (
            ("get_skill", {"name": "secret"}),
            ("get_skill", {"name": "secret", "source": "inner"}),
            ("get_skill_file", {"skill": "secret", "file": "SKILL.md"}),
            ("get_agent", {"name": "a"}),
            ("get_doc", {"path": ["a"]}),
        ):
            result = await portal.call(tool, arguments, tier=tier)
            assert result.is_error != member, result.text
            if not member:
                error = error_of(result)
                assert error["code"] == "NOT_FOUND"
                assert "inner" not in json.dumps(error).replace('"inner"', "").replace(
                    "'inner'", ""
                )


async def test_a_thousand_skills_are_listed_searched_and_read(garden: Any) -> None:
    for number in range(1000):
        garden.skill(f"s{number}", f"The word zyx{number}x.")
    async with garden.opened(garden.source("house")) as portal:
        listed = await entries(portal)
        assert len(listed) == 1000
        assert len(await portal.prompts()) == 1000
        found = (await portal.call("search_skills", {"query": "zyx700x"})).structured["results"]
        assert [each["name"] for each in found] == ["s700"]
        assert not (await portal.call("get_skill", {"name": "s999"})).is_error
