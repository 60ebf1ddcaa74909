"""``porch knowledge check`` names every problem of every note, and never stops at the first."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from pydantic import ValidationError

from gateway.contract import CommandContext, ContentScrub
from plugins.knowledge.check import check as check_section
from plugins.knowledge.commands.check import CheckArgs, check
from plugins.knowledge.config import KnowledgeConfig

HOST = cast(Any, SimpleNamespace(scrub=ContentScrub("knowledge")))
"""The part of a host that a check asks."""


async def run(
    directory: Path, *, json: bool = False, root: Path | None = None, **config: Any
) -> tuple[int, list[Any]]:
    printed: list[Any] = []
    context = CommandContext(
        config=KnowledgeConfig.model_validate(config),
        echo=printed.append,
        emit=printed.append,
        json=json,
        host=cast(Any, None),
        root=root,
    )
    return await check(CheckArgs(directory=directory), context), printed


async def test_all_problems_are_reported_with_their_lines(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("tags/x/dao.md")
    library.note("notes/a.md", type="guide", homepage="x")
    library.note("links/b.md", url="nowhere", tier="gold")
    library.write("notes/yaml.md", "---\npublish: true\ntitle: a: b\n---\n")
    library.write("notes/latin.md", b"---\npublish: true\ntitle: \xe9\n---\n")
    library.write("notes/huge.md", b"x" * 10_000_000)
    library.note("notes/" + "x" * 236 + ".md")
    code, printed = await run(library.notes)
    found = {
        (Path(match[1]).name, int(match[2]), match[3].split(";")[0][:24])
        for line in printed
        if (match := re.fullmatch(r"(.+\.md):(\d+): (.+)", line))
    }
    assert code == 1
    assert {(name[:9], line) for name, line, _ in found} == {
        ("dao.md", 1),
        ("a.md", 4),
        ("b.md", 4),
        ("b.md", 5),
        ("yaml.md", 3),
        ("latin.md", 3),
        ("huge.md", 1),
        ("xxxxxxxxx", 1),
    }
    assert "8 notes, 3 to be served, 0 not published, 5 errors, 3 warnings" in printed[-2]
    assert set(printed[-1].split(": ")[1][:-1].split(", ")) == {"1 tag", "1 file", "1 link"}


async def test_a_clean_directory_passes_and_json_says_the_same(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("notes/a.md", publish=None)
    assert (await run(library.notes))[0] == 0
    code, [report] = await run(library.notes, json=True)
    assert (code, report["served"], report["unpublished"]) == (0, {"tag": 1}, 1)
    assert (report["errors"], report["problems"]) == (0, [])


async def test_the_portals_own_settings_count_for_its_sources(library: Any) -> None:
    library.note("recipes/a.md")
    library.note("notes/b.md", type="concept")
    sources = [{"directory": library.notes, "path_map": {"recipes": "practice"}, "name": "own"}]
    _, [report] = await run(library.notes, json=True, sources=sources, types={"concept": "tag"})
    assert report["served"] == {"practice": 1, "tag": 1}


async def test_pages_in_another_markup_are_said_not_to_be_read(library: Any) -> None:
    library.note("tags/dao.md")
    for name in ("docs/a.rst", "docs/b.rst", "docs/c.adoc", "docs/conf.py"):
        library.write(name, "Words.")
    _, lines = await run(library.notes)
    assert lines[-1] == (
        "Not read, as they are no Markdown: 2 .rst, 1 .adoc. Pandoc converts such files."
    )
    _, [report] = await run(library.notes, json=True)
    assert report["unread"] == {".rst": 2, ".adoc": 1}


async def test_a_directory_that_is_not_there_is_said(tmp_path: Path) -> None:
    code, [line] = await run(tmp_path / "none")
    assert code == 2
    assert "none" in line


async def test_notes_that_are_not_published_are_counted_apart_and_no_errors(library: Any) -> None:
    library.note("tags/dao.md")
    library.note("notes/" + "x" * 236 + ".md", publish=None)
    library.note("notes/" + "y" * 236 + ".md", draft="true")
    library.write("templates/t.md", "---\ntitle: {{title}}\n---\n")
    code, [report] = await run(library.notes, json=True)
    assert (code, report["errors"], report["unpublished"]) == (0, 0, 3)


async def test_where_all_notes_have_errors_nothing_is_advised_about_publishing(
    library: Any,
) -> None:
    library.write("tags/dao.md", "---\npublish: true\ntitle: [\n---\n")
    code, printed = await run(library.notes)
    assert code == 1
    assert "dao.md:4: broken YAML" in printed[0]
    assert "Nothing would be served, as the errors say." in printed
    assert "publish: all" not in "".join(printed)


async def test_ordinary_markdown_is_served_where_the_source_says_so(library: Any) -> None:
    for number in range(3):
        library.write(f"docs/page-{number}.md", f"# Page {number}\n\nText.")
    library.note("docs/private.md", publish="false")
    library.note("docs/draft.md", publish=None, draft="true")
    code, printed = await run(library.notes)
    assert code == 0
    text = "\n".join(printed)
    assert "0 of 5 notes are published" in text
    assert "This looks like plain markdown. To have 3 of 5 notes served, add to" in text
    pasted = yaml.safe_load(text[text.index("plugins:") :])["plugins"]["knowledge"]
    assert KnowledgeConfig.model_validate(pasted).sources[0].publish == "all"
    _, [found] = await run(library.notes, json=True)
    assert found["proposal"]["layout"] == "plain markdown"
    code, printed = await run(library.notes, **pasted)
    assert code == 0
    assert "looks like" not in "".join(printed)
    sources = [{"directory": library.notes, "publish": "all"}]
    _, [report] = await run(library.notes, json=True, sources=sources)
    assert (report["served"], report["unpublished"]) == ({"file": 3}, 2)


async def test_a_proposal_names_what_it_would_not_serve(library: Any) -> None:
    library.write("a/plan.md", "# Plan")
    library.write("b/plan.md", "---\nplan: [\n---\nWords.")
    _, printed = await run(library.notes)
    text = "\n".join(printed)
    assert "To have 1 of 2 notes served" in text
    _, _, told = text.partition("Not served even so:\n")
    assert told.startswith(f"{library.notes}/b/plan.md:3: ")


async def test_what_is_printed_for_a_site_is_what_the_page_for_admins_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(96):  # two of each name, in two folders
        page = tmp_path / f"our-docs/docs/{'ab'[number % 2]}/page-{number // 2}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("# Page")
    (tmp_path / "our-docs/mkdocs.yml").write_text("site_name: Ours\n")
    (tmp_path / "our-docs/README.md").write_text("# For contributors")
    _, printed = await run(Path("our-docs"), root=tmp_path)
    (start,) = (at for at, line in enumerate(printed) if line.startswith("This looks like"))
    shown = (Path(__file__).parents[3] / "docs/admins/knowledge-sync.md").read_text()
    assert "\n".join(["```", *printed[start:], "```"]) in shown


async def test_a_proposal_names_the_directory_as_the_portal_reads_it(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        library.write(f"notes/page-{number}.md", "# Page")
    monkeypatch.chdir(library.notes)
    for root, named in (
        (library.notes.parent, library.notes.name),
        (library.notes / "notes", str(library.notes.resolve())),
        (None, str(library.notes.resolve())),
    ):
        _, [found] = await run(Path(), json=True, root=root)
        assert found["proposal"]["source"]["directory"] == named


async def test_a_field_of_map_that_is_likely_misspelt_is_named(library: Any) -> None:
    library.note("tags/dao.md")
    mapped = {"titel": "name", "valid_from": "since", "soil_type": "ground", "publishDate": "on"}
    sources = [{"directory": library.notes, "map": mapped}]
    reason = "no field that the portal reads; did you mean title?"
    _, printed = await run(library.notes, sources=sources)
    assert [line for line in printed if "map." in line] == [f"note: map.titel: {reason}"]
    (found,) = await check_section(KnowledgeConfig.model_validate({"sources": sources}), HOST)
    assert (found.location, found.reason) == (("sources", 0, "map", "titel"), reason)
    assert found.notice


async def test_porch_check_says_that_no_source_is_configured() -> None:
    (found,) = await check_section(KnowledgeConfig.model_validate({"sources": []}), HOST)
    assert "no source is configured" in found.reason
    assert found.notice
    assert await check_section(KnowledgeConfig(), HOST) == []


async def test_notes_in_folders_that_a_proposal_leaves_out_are_counted_and_translations_named(
    library: Any,
) -> None:
    library.write("website/docusaurus.config.ts", "export default {}")
    french = "website/i18n/fr/docusaurus-plugin-content-docs/current"
    old = "website/versioned_docs/version-1.0"
    for folder in ("website/docs", french, old, "website/src/pages"):
        library.write(f"{folder}/intro.md", "# Intro")
    library.write(f"{old}/_part.md", "# A part")
    _, printed = await run(library.notes)
    text = "\n".join(printed)
    assert "To have 1 of 1 note served" in text
    folders = ("i18n", "src", "versioned_docs")
    counted = ", ".join(f"1 in website/{folder}/" for folder in folders)
    assert f"3 notes of other folders: {counted}." in text
    pattern = "/website/i18n/*/docusaurus-plugin-content-*/current/"
    assert printed[-1] == f"For translations that is {pattern}, with ids: path."
    _, [found] = await run(library.notes, json=True)
    proposal = found["proposal"]
    assert sum(proposal["left_out"].values()) == 3
    source = proposal["source"]
    source["include"].append(proposal["translations"])
    _, [report] = await run(library.notes, json=True, sources=[source | {"ids": "path"}])
    assert report["served"] == {"file": 2}


async def test_a_name_that_no_document_has_is_told_to_the_author_and_keeps_nothing_back(
    library: Any,
) -> None:
    library.note("a/setup.md", title="Setup")
    library.note("b/setup-2.md", title="Setup")
    library.note("notes/right.md", supersedes="[a/setup.md]", verifiedAgainst="https://example.org")
    library.note("notes/wrong.md", supersedes="Wholly else", verified_against="Setup guide")
    library.note("notes/unclear.md", contests="Setup", verifiedAgainst="schema.yaml")
    library.note("notes/gone.md", supersededBy="notes/newer.md")
    code, [report] = await run(library.notes, json=True)
    found = {(Path(one["path"]).name, one["line"]): one["reason"] for one in report["problems"]}
    assert (code, report["served"], report["errors"]) == (0, {"file": 6}, 0)
    assert found.keys() == {("wrong.md", 4), ("wrong.md", 5), ("unclear.md", 4), ("gone.md", 4)}
    assert "supersedes: none of the notes" in found["wrong.md", 4]
    assert "'Wholly else'" in found["wrong.md", 4]
    assert "several notes are called 'Setup'" in found["unclear.md", 4]


async def test_a_date_in_the_future_is_told_to_the_author_and_keeps_nothing_back(
    library: Any,
) -> None:
    library.note("notes/plan.md", date="2999-01-01")
    library.note("notes/today.md", date=f"{datetime.now(UTC):%Y-%m-%d}")
    code, [report] = await run(library.notes, json=True)
    (found,) = report["problems"]
    assert (code, report["served"], Path(found["path"]).name) == (0, {"file": 2}, "plan.md")
    assert found["reason"].startswith("date: it lies in the future")
    line = (library.notes / "notes/plan.md").read_text().split("\n")[found["line"] - 1]
    assert line.startswith("date: 2999")


async def test_what_many_notes_have_is_said_once(library: Any) -> None:
    for number in range(40):
        library.note(f"eips/{number}.md", type="Standards Track", date=None, created="2020-01-02")
    _, [report] = await run(library.notes, json=True)
    assert report["served"] == {"file": 40}
    reasons = sorted(one["reason"] for one in report["problems"])
    assert len(reasons) == 2
    assert all(reason.endswith("(and in 39 more)") for reason in reasons)
    assert "created" in reasons[0]
    assert "'Standards Track'" in reasons[1]


async def test_porch_check_says_that_nothing_would_be_served_and_which_files_clash(
    library: Any,
) -> None:
    config = KnowledgeConfig.model_validate({"sources": [{"directory": library.notes}]})
    library.note("notes/a.md", publish=None)
    (nothing,) = await check_section(config, HOST)
    assert "0 of 1 notes are published" in nothing.reason
    assert "publish: all" in nothing.reason
    library.note("tags/a/dao.md")
    library.note("tags/b/dao.md")
    (clash,) = await check_section(config, HOST)
    assert "tags/b/dao.md" in clash.reason
    assert "tags/a/dao.md" in clash.reason
    assert (nothing.notice, clash.notice) == (True, True)


async def test_a_real_knowledge_base_passes(test_data: Path) -> None:
    code, [report] = await run(test_data / "civic-kb/repo", json=True)
    assert code == 0
    assert (report["files"], sum(report["served"].values())) == (695, 691)


async def test_notes_as_members_write_them_are_all_read(test_data: Path) -> None:
    code, [report] = await run(test_data / "sb-ccc-unpublished/docs", json=True)
    assert (code, report["files"], report["served"]) == (0, 85, {})
    assert {one["severity"] for one in report["problems"]} == {"warning"}


@pytest.mark.parametrize("publish", [True, False, "docs/", 3, ["docs/", 3], {"docs": "all"}])
def test_what_publish_cannot_be_is_one_mistake_with_what_to_write(publish: object) -> None:
    source = {"directory": "/a", "publish": publish}
    with pytest.raises(ValidationError) as failed:
        KnowledgeConfig.model_validate({"sources": [source]})
    (mistake,) = failed.value.errors()
    assert mistake["msg"].endswith(
        "must be marked, all or a list of paths; for every page write all"
    )


def test_several_sources_need_names_of_their_own() -> None:
    for names in ([None, "a"], ["a", "a"]):
        sources = [{"directory": ".", "name": name} for name in names]
        with pytest.raises(ValidationError, match="a name of its own"):
            KnowledgeConfig.model_validate({"sources": sources})


def test_the_namespace_is_the_portals_name_unless_it_is_given() -> None:
    assert KnowledgeConfig().namespace("SuperBenefit DAO!") == "superbenefit-dao"
    assert KnowledgeConfig().namespace("门廊") == "portal"
    assert KnowledgeConfig(resource_namespace="kb").namespace("Any") == "kb"
    assert KnowledgeConfig().sources == ()
