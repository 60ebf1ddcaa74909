"""A page's file: what it says is what its document has, and nothing in it ends it early."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ContentScrub
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.drafts.composing import MAX_DIFF_CHARACTERS, Composed, composed, diff_of
from plugins.knowledge.drafts.draft import DraftArgs
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.paths import PATH_TYPES
from plugins.knowledge.sync.sources import DirectorySource

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
PATH = "artifacts/patterns/water.md"


def source(**config: Any) -> DirectorySource:
    made = SourceConfig.model_validate({"directory": "/kb", **config})
    return DirectorySource(made, {}, 1_000_000, ContentScrub("knowledge"))


def made(
    existing: str | None = None, path: str = PATH, config: dict[str, Any] | None = None, **said: Any
) -> Composed:
    told = {"title": "Water", "contentType": "pattern", "body": "Who may use it."} | said
    asked = DraftArgs.model_validate(told)
    where = source(**(config or {}))
    return composed(asked, where, path, NOW, existing, is_new=existing is None)


_LINES = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=40
)


@given(_LINES.filter(str.strip), _LINES, st.sampled_from(ContentType))
def test_what_is_said_is_what_the_page_has(
    title: str, body: str, content_type: ContentType
) -> None:
    folder = next((f for f, t in PATH_TYPES.items() if t is content_type), "notes")
    page = made(
        path=f"{folder}/water.md",
        title=title[:200],
        body=f"x {body}",
        contentType=str(content_type),
        frontmatter="url: https://example.org" if content_type is ContentType.LINK else None,
    )
    assert page.problems == [], page.text
    assert page.document is not None
    assert page.document.content_type is content_type
    assert page.document.title == " ".join(title[:200].strip().split(" "))
    assert page.document.content == f"x {body}".strip("\n")
    assert page.document.metadata.publish


_FIELDS = ["---", "...", "title: Other", '"title" : Other', "? title\n: x", "type: tag", "- x"]
_MORE = ["a: [", "a: 1", "{title: Other}", "title: &a x", " title: b"]


@given(st.lists(st.sampled_from([*_FIELDS, *_MORE])))
def test_no_field_takes_the_title_or_the_type_away(lines: list[str]) -> None:
    page = made(frontmatter="\n".join(lines))
    if page.document is not None and not page.problems:
        assert page.document.title == "Water"
        assert page.document.content_type is ContentType.PATTERN
        assert page.document.content == "Who may use it."


def test_the_same_arguments_make_the_same_file() -> None:
    fields = "tags: [water]\nstatus: open"
    first = made(frontmatter=fields)
    assert made(frontmatter=fields).text == first.text
    again = composed(
        DraftArgs(title="Water", content_type=ContentType.PATTERN, body="Who may use it."),
        source(),
        PATH,
        NOW,
        first.text,
        is_new=True,
    )
    assert again.text == first.text


def test_a_changed_page_keeps_its_fields_unless_others_are_given() -> None:
    existing = "---\ntype: pattern\ntitle: >-\n  Old\n  title\ntags:\n  - a\n---\n\nOld.\n"
    kept = made(existing)
    assert kept.text == (
        "---\ntitle: Water\ntype: pattern\npublish: true\ntags:\n  - a\n---\n\nWho may use it.\n"
    )
    assert "tags" not in made(existing, frontmatter="group: cell").text


@pytest.mark.parametrize(
    ("said", "line", "reason"),
    [
        ({"frontmatter": "date: some day"}, 5, "is not a date"),
        ({"frontmatter": "a: [1"}, 7, "broken YAML"),
        ({"frontmatter": "tier: secret"}, 6, "is none of open, public, members"),
        ({"body": "---\ntitle: x\n---\nText."}, 8, "begins with frontmatter"),
        ({"contentType": "link"}, 1, "a link needs its url"),
        ({"frontmatter": "supersedes: " + str([f"a{n}" for n in range(30)])}, 6, "are the most"),
    ],
)
def test_what_does_not_fit_is_told_by_its_line(said: Any, line: int, reason: str) -> None:
    page = made(**said)
    assert any(reason in each.reason for each in page.problems), page.problems
    assert line in {each.line for each in page.problems}, page.problems


def test_a_page_that_the_source_leaves_out_or_never_serves_is_told() -> None:
    out = made(config={"include": ["/docs/"]})
    assert any("leaves out files at this path" in each.reason for each in out.problems)
    hidden = made(frontmatter="draft: true")
    assert hidden.problems == []
    assert any("not served" in each for each in hidden.notices)


def test_a_source_that_calls_fields_otherwise_is_written_its_way() -> None:
    page = made(config={"map": {"title": "name"}, "publish": "all"})
    assert page.text.startswith("---\nname: Water\ntype: pattern\ndate: 2026-11-27\n---\n")
    assert page.document is not None
    assert page.document.title == "Water"


def test_a_diff_says_what_changes_and_ends_somewhere() -> None:
    assert diff_of(None, "a\n", "x.md") == "--- /dev/null\n+++ b/x.md\n@@ -0,0 +1 @@\n+a"
    assert diff_of("a\n", "a\n", "x.md") == ""
    long = diff_of("", "line\n" * 100_000, "x.md")
    assert len(long) <= MAX_DIFF_CHARACTERS + 30
    assert long.endswith("(The diff goes on.)")
