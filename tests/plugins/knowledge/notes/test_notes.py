"""One note at a time: what is served of it, and what a member is told to mend."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Tier
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.content_types import CHILDREN, ContentType, matching
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.fields import parse_date
from plugins.knowledge.notes.headings import MAX_SECTIONS
from plugins.knowledge.notes.note import Note, Origin, Rules, parse
from plugins.knowledge.notes.paths import PATH_TYPES

FILE_DATE = datetime(2020, 1, 2, tzinfo=UTC)
RULES = Rules(PATH_TYPES, {"concept": ContentType.TAG})


def note(text: str, path: str = "notes/a.md") -> Note:
    return parse(text.encode(), Origin(path, path, FILE_DATE), RULES)


def served(text: str, path: str = "notes/a.md") -> dict[str, Any]:
    document = note(text, path).document
    assert document is not None
    metadata: dict[str, Any] = document.model_dump(mode="json")["metadata"]
    return metadata


@pytest.mark.parametrize("type", list(ContentType))
def test_every_type_is_a_member_of_the_one_union(type: ContentType) -> None:
    made = CONTENT.validate_python({"type": type, "title": "A", "date": "2024-10-16"})
    assert made.type is type
    assert made.__class__.__name__.lower() == type


def test_every_field_of_the_specification_is_served_under_its_name() -> None:
    texts = [
        "description",
        "permalink",
        "group",
        "release",
        "context",
        "problem",
        "solution",
        "category",
    ]
    lists = ["author", "hasPart", "isPartOf", "relatedPatterns", "tags", "aliases"]
    fields = dict.fromkeys(texts, "x") | {name: ["x", "y"] for name in lists}
    lines = [f"{name}: {value}" for name, value in fields.items()]
    metadata = served("\n".join(["---", "type: pattern", *lines, "---"]))
    assert fields.items() <= metadata.items()
    assert (
        served(
            "---\ntype: place\ncoordinates: {lat: 48.5, lng: -123.5}\nregion: Cascadia\n---"
        ).items()
        >= {"coordinates": {"lat": 48.5, "lng": -123.5}, "region": "Cascadia"}.items()
    )
    assert served("---\ntype: gathering\neventDate: 16 Oct 2024\n---")["eventDate"] == (
        "2024-10-16T00:00:00Z"
    )


def test_a_parent_matches_its_children_and_file_only_itself() -> None:
    assert set(matching(ContentType.STORY)) == {"story", "study", "article"}
    assert matching(ContentType.FILE) == (ContentType.FILE,)
    children = [child for some in CHILDREN.values() for child in some]
    assert len(children) == len(set(children)) == len(ContentType) - 1 - len(CHILDREN)


@pytest.mark.parametrize(
    "written",
    [
        "2024-10-16",
        "2024-10-16T00:00:00Z",
        "2024-10-15T20:00:00-04:00",
        "2024-10-16 00:00",
        "2024/10/16",
        "20241016",
        "16.10.2024",
        "16 October 2024",
        "October 16, 2024",
        "Oct 16, 2024",
        "Wed, 16 Oct 2024 00:00:00 +0000",
        "2024-10-16 00:00:00 UTC",
    ],
)
def test_a_date_is_read_in_many_forms(written: str) -> None:
    metadata = served(f"---\ndate: {written}\n---")
    assert metadata["date"] == "2024-10-16T00:00:00Z"


@pytest.mark.parametrize("written", ["03/04/2024", "soon", "2024-13-01", "[1]", "9" * 30])
def test_a_date_that_cannot_be_told_is_reported_and_the_files_is_served(written: str) -> None:
    read = note(f"---\ntitle: a\ndate: {written}\n---")
    assert read.document is not None
    assert read.document.metadata.date == FILE_DATE
    assert str(read.problems[0]).startswith("notes/a.md:3: date: ")


@given(st.one_of(st.text(), st.integers(), st.none(), st.lists(st.text(max_size=3)), st.booleans()))
def test_a_date_is_read_or_refused(value: Any) -> None:
    with suppress(ValueError):
        assert parse_date(value).tzinfo is UTC


def test_the_frontmatters_type_wins_over_the_folder() -> None:
    assert served("---\ntype: Pattern\n---", "tags/a.md")["type"] == "pattern"
    assert served("---\ntitle: a\n---", "tags/a.md")["type"] == "tag"


def test_a_foreign_type_is_served_as_file_with_its_word_kept() -> None:
    read = note("---\ntitle: a\ntype: Guide\n---", "tags/a.md")
    assert read.document is not None
    assert read.document.content_type is ContentType.FILE
    assert read.document.model_dump(mode="json")["metadata"]["originalType"] == "Guide"
    assert str(read.problems[0]) == "tags/a.md:3: unknown type 'Guide'; served as file"
    assert read.problems[0].severity == "warning"


def test_a_mapped_type_keeps_its_word_without_a_problem() -> None:
    read = note("---\ntype: Concept\n---")
    assert read.document is not None
    assert (read.document.content_type, read.problems) == (ContentType.TAG, [])
    assert read.document.metadata.original_type == "Concept"


def test_a_missing_title_is_the_first_heading_of_level_1_or_the_stem() -> None:
    assert served("---\ntype: tag\n---\n```\n# no\n```\n# The *Title* [x](y) #\n")["title"] == (
        "The Title x"
    )
    assert served("No heading.", "notes/the-stem.md")["title"] == "the-stem"
    assert served("---\ntitle: 404\n---")["title"] == "404"


@pytest.mark.parametrize(
    "body",
    [
        "A base has a syntax.\n\n## Example\n\nText.",
        "Example\n-------\n\nText.",
        "```\n# Example\n```\n",
        "````\n```\n# Example\n```\n````\n",
        "    # Example\n",
        "```\nExample\n=======\n```\n",
        "```\n# Example, of code that nothing closes",
    ],
)
def test_a_part_of_a_note_gives_it_no_title(body: str) -> None:
    assert served(body, "notes/Bases syntax.md")["title"] == "Bases syntax"


@pytest.mark.parametrize("body", ["Rules of C#\n=====\n", "Intro.\n\n## Part\n\n# Rules of C#\n"])
def test_a_heading_of_level_1_is_the_title_however_it_is_written(body: str) -> None:
    assert served(body)["title"] == "Rules of C#"


def test_the_lead_stands_below_an_underlined_title_too() -> None:
    assert served("tar\n===\n\n> Archiving utility.\n")["description"] == "Archiving utility."


def test_a_note_without_frontmatter_takes_its_quoted_lead_as_description() -> None:
    metadata = served("# tar\n\n> Archiving utility.\n> See more.\n\n- List:\n> no")
    assert (metadata["title"], metadata["description"]) == ("tar", "Archiving utility. See more.")
    assert metadata["publish"] is False
    assert "description" not in served("---\ntype: tag\n---\n> Quoted.")


def test_an_empty_quotation_is_no_description() -> None:
    assert "description" not in served("# Minutes\n\n>\n> \n\nThe kangaroo decision was taken.")


def test_a_value_that_does_not_fit_is_dropped_under_both_of_its_names() -> None:
    said = served("---\nsupersededBy: [a, b]\nsuperseded_by: [a, b]\n---\n# A\n")
    assert "supersededBy" not in said


def test_values_that_do_not_fit_are_dropped_and_reported_by_line() -> None:
    read = note(
        "---\ntype: project\ntitle: [a, b]\nhomepage: ftp://x\nstatus: someday\nlead: Ann\n"
        "group: [ics]\nauthor: {a: b}\nfoo: {bar: [1]}\nurl: anything\n---\n# Heading"
    )
    assert read.document is not None
    metadata = read.document.model_dump(mode="json")["metadata"]
    assert [(problem.line, problem.reason.split(":")[0]) for problem in read.problems] == [
        (3, "title"),
        (4, "homepage"),
        (5, "status"),
        (8, "author"),
    ]
    assert all(problem.severity == "warning" for problem in read.problems)
    assert metadata["title"] == "Heading"
    assert (metadata["lead"], metadata["group"]) == (["Ann"], "ics")
    assert (metadata["foo"], metadata["url"]) == ({"bar": [1]}, "anything")
    assert not {"homepage", "status", "author"} & metadata.keys()


def test_a_link_without_its_url_is_served_and_reported() -> None:
    read = note("---\ntype: link\nurl:\n---")
    assert read.document is not None
    assert [str(problem) for problem in read.problems] == ["notes/a.md:3: a link needs its url"]


def test_tags_are_read_from_lists_and_from_one_line() -> None:
    assert served("---\ntags: [a, '#b', {tag: c}, a]\n---")["tags"] == ["a", "b", "c"]
    assert served("---\ntags: a, b\n---")["tags"] == ["a", "b"]


@pytest.mark.parametrize("word", ["gold", "[open, public]", "{a: b}", "7"])
def test_a_tier_that_does_not_exist_means_members(word: str) -> None:
    read = note(f"---\ntier: {word}\n---")
    assert read.document is not None
    assert read.document.tier is Tier.MEMBERS
    assert read.problems[0].line == 2


def test_a_tier_is_not_repeated_in_the_metadata() -> None:
    read = note("---\ntier: Public\n---")
    assert read.document is not None
    assert (read.document.tier, read.problems) == (Tier.PUBLIC, [])
    assert "tier" not in read.document.metadata.model_dump()


@given(
    st.dictionaries(
        st.sampled_from(
            ["type", "title", "date", "publish", "tags", "status", "tier", "url", "lat"]
        )
        | st.text(st.characters(codec="ascii", categories=["L"]), min_size=1),
        st.one_of(st.text(st.characters(codec="ascii", categories=["L", "N"])), st.integers(0, 9))
        | st.lists(st.sampled_from(["open", "a b", ""])),
    ),
    st.sampled_from([*ContentType, "other"]),
)
def test_any_frontmatter_gives_a_document_that_survives_storage(
    fields: dict[str, Any], type: str
) -> None:
    lines = [f"{name!r}: {value!r}" for name, value in ({"type": str(type)} | fields).items()]
    document = note("\n".join(["---", *lines, "---", "Body"])).document
    assert document is not None
    assert Document.model_validate_json(document.model_dump_json()) == document


@pytest.mark.parametrize(
    ("path", "reason"),
    [("notes/" + "é" * 118 + ".md", "236 bytes long; 235"), ("notes/...md", "has no letters")],
)
def test_a_name_that_cannot_be_an_id_is_an_error(path: str, reason: str) -> None:
    read = note("---\npublish: true\n---", path)
    assert read.document is None
    assert not read.published
    assert reason in read.problems[0].reason
    assert read.problems[0].severity == "error"


@pytest.mark.parametrize("line", ["a" + " " * 10**6 + "b", "[" * 10**6, "[](" * 10**6])
def test_a_hostile_heading_is_read_in_time(line: str) -> None:
    assert note(f"# {line}").document is not None


def test_a_title_is_its_heading_without_marks_and_closing_signs() -> None:
    heading = "# The [wiki](https://example.org/a_(b)) of *things* ##"
    assert served(heading)["title"] == "The wiki of things"
    assert served("# Use max\\_pages \\[new\\]")["title"] == "Use max_pages [new]"


def test_a_hostile_address_is_refused_in_time() -> None:
    text = "---\ntype: person\nemail: a@" + "." * 10**6 + "@\n---"
    assert [one.reason for one in note(text).problems if "e-mail" in one.reason]


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("_posts/2025-03-04-hello.md", "2025-03-04"),
        ("Daily/2023-09-12.md", "2023-09-12"),
        ("blog/2021-08-26-welcome/index.md", "2021-08-26"),
        ("notes/2023-09-12 Standup.md", "2023-09-12"),
        ("notes/2023-13-12.md", "2020-01-02"),
        ("notes/2023-09-123.md", "2020-01-02"),
        ("notes/2999-09-12-plan.md", "2020-01-02"),
        ("notes/on 2023-09-12.md", "2020-01-02"),
        ("2023-09-12/standup.md", "2020-01-02"),
    ],
)
def test_the_day_that_a_files_name_begins_with_is_the_date_of_a_note_that_names_none(
    path: str, day: str
) -> None:
    assert served("Text.", path)["date"] == f"{day}T00:00:00Z"
    assert served("---\ndate: soon\n---\n", path)["date"] == f"{day}T00:00:00Z"
    for named in ("date", "created"):
        assert served(f"---\n{named}: 2019-05-06\n---\n", path)["date"] == "2019-05-06T00:00:00Z"


def test_a_note_says_when_it_was_created_where_it_names_no_date() -> None:
    read = note("---\ncreated: 2020-01-02\n---\n", "notes/a.md")
    assert read.document is not None
    assert read.document.metadata.date.date().isoformat() == "2020-01-02"
    both = note("---\ncreated: 2020-01-02\ndate: 2021-01-02\n---\n", "notes/a.md")
    assert both.document is not None
    assert both.document.metadata.date.year == 2021
    assert both.problems == []
    unreadable = note("---\ncreated: some day\n---\n", "notes/a.md")
    assert unreadable.document is not None
    assert unreadable.document.metadata.date == unreadable.origin.date


def ruled(text: str, path: str = "notes/a.md", **rules: Any) -> Note:
    made = Rules(PATH_TYPES, {}, **rules)
    return parse(text.encode(), Origin(path, path, FILE_DATE), made)


def test_fields_may_have_other_names() -> None:
    names = {"title": "name", "date": "last_update.date", "tags": "keywords"}
    text = "---\nname: A\nlast_update: {date: 2024-10-16}\nkeywords: [x]\ntags: [y]\n---\n# B"
    document = ruled(text, names=names).document
    assert document is not None
    assert (document.title, document.tags) == ("A", ("y",))
    assert document.metadata.date.date().isoformat() == "2024-10-16"


def test_a_mapping_under_our_own_name_gives_what_is_in_it() -> None:
    read = ruled("---\ndate: {created: 2024-10-16}\n---\n", names={"date": "date.created"})
    assert read.problems == []
    assert read.document is not None
    assert read.document.metadata.date.year == 2024


def test_what_lies_under_a_path_is_published_unless_it_says_otherwise() -> None:
    rules = {"publish": ("docs/", "/blog/*.md")}
    published = ["docs/a.md", "x/docs/y/a.md", "blog/a.md"]
    assert all(ruled("Words.", path, **rules).published for path in published)
    assert not ruled("Words.", "blog/x/a.md", **rules).published
    assert not ruled("---\npublish: false\n---\n", "docs/a.md", **rules).published
    assert not ruled("---\ndraft: true\n---\n", "docs/a.md", **rules).published
    assert ruled("---\npublish: true\n---\n", "notes/a.md", **rules).published


def test_a_note_is_served_without_the_comments_of_its_author() -> None:
    document = note("%%\n# Not the title\n%%\n# Title\n\nWords %%and doubts%% of it.").document
    assert document is not None
    assert (document.title, document.content) == ("Title", "# Title\n\nWords  of it.")


def test_toml_between_plus_signs_is_frontmatter_too() -> None:
    metadata = served(
        "+++\ntitle = 'A'\ndate = 2024-10-16T10:00:00Z\npublish = true\ntags = ['x']\n+++\nBody"
    )
    assert (metadata["title"], metadata["publish"], metadata["tags"]) == ("A", True, ["x"])
    assert metadata["date"].startswith("2024-10-16")


def test_broken_toml_names_its_line() -> None:
    broken = ruled("+++\ntitle = 'A'\ndate = \n+++\nBody", publish=True)
    [problem] = broken.problems
    assert (problem.line, problem.severity) == (3, "error")
    assert "no TOML" in problem.reason
    assert broken.document is None


def test_a_page_of_mdx_is_read_as_the_markdown_in_it() -> None:
    document = ruled("---\ntitle: A\n---\nimport X from 'x'\n\n<X>Words.</X>", "a.mdx").document
    assert document is not None
    assert document.content == "<X>Words.</X>"


@pytest.mark.parametrize("section", ["# a\n", "a\n===\n\n", "<h2>a</h2>\n"])
def test_a_note_of_very_many_headings_is_served_and_its_author_told(section: str) -> None:
    assert note("text\n" * 2 * MAX_SECTIONS + section * MAX_SECTIONS).problems == []
    read = note(section * (MAX_SECTIONS + 1))
    assert read.document is not None
    assert [(one.severity, one.line) for one in read.problems] == [("warning", 1)]
    assert "more than 5,000 headings" in read.problems[0].reason


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ('<p align="center">\n  <a href="/"><img src="x.png"></a>\n</p>\n\n'
         '<h1 align="center">\n  <a href="/">HTTP &amp; X</a>\n</h1>\n\nWords.', "HTTP & X"),
        ('<h1><img src="logo.png"></h1>\n\n# Vec<T>', "Vec<T>"),
        ("<!--\n<h1>Old</h1>\n-->\n\n# New", "New"),
        ("```html\n<h1>Shown</h1>\n```", "a"),
    ],
)  # fmt: skip
def test_a_heading_in_html_is_a_title(body: str, title: str) -> None:
    assert served(body)["title"] == title


def test_tags_of_a_post_of_jekyll_are_told_apart_by_spaces() -> None:
    front = "---\ntags: market cheese\n---\n"
    assert served(front, "_posts/2024-01-01-a.md")["tags"] == ["market", "cheese"]
    assert served("---\ntags: market, cheese\n---\n", "_posts/a.md")["tags"] == ["market", "cheese"]
    assert served(front)["tags"] == ["market cheese"]
