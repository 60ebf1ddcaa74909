"""What keeps a note back, in the words of each tool, and until when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.contract import Tier
from plugins.knowledge.notes.note import Note, Origin, Rules, parse

AT = datetime(2020, 1, 2, tzinfo=UTC)


def note(front: str, path: str = "a.md") -> Note:
    text = f"---\n{front}\n---\nWords."
    return parse(text.encode(), Origin(path, path, AT), Rules({}, {}, publish=True))


@pytest.mark.parametrize(
    "front",
    [
        "Publish: false",
        "Draft: yes",
        "DRAFT: true",
        "draft: false\nDraft: true",
        "publish: true\nPublish: false",
        "published: false",
        "Published: no",
        "published: 2999-01-01",
        "unlisted: true",
        "unlisted: perhaps",
        "publishDate: 2999-01-01",
        "publishdate: someday",
        "expiryDate: 2020-01-01",
        "unpublishdate: 2020-01-01 10:00:00 -0400",
        "build: {render: never}",
        "_build:\n  list: never",
        "build: {render: false}",
    ],
)
def test_what_is_unpublished_in_any_words_and_any_case_is_not_served(front: str) -> None:
    read = note(front)
    assert not read.published
    assert all(one.severity == "warning" for one in read.problems)


@pytest.mark.parametrize(
    "front",
    [
        "Publish: true",
        "draft: false\nDraft: false",
        "published: 2020-01-01",
        "published: by Ann",
        "pubDate: 07/08/2022",
        "unlisted: false",
        "publishDate: 2020-01-01",
        "expiryDate: 2999-01-01",
        "build: {render: always, list: local}",
        "build: 1234",
    ],
)
def test_what_says_that_it_is_published_is_served(front: str) -> None:
    read = note(front)
    assert (read.published, read.problems) == (True, [])


def test_a_tier_counts_in_any_case() -> None:
    for front in ("Tier: members", "tier: open\nTIER: members"):
        document = note(front).document
        assert document is not None
        assert document.tier is Tier.MEMBERS


@pytest.mark.parametrize(
    ("front", "published", "turns"),
    [
        ("publishDate: 2998-01-01\nexpiryDate: 2999-01-01", False, 2998),
        ("publishDate: 2020-01-01\nexpiryDate: 2999-01-01", True, 2999),
        ("title: A", True, None),
    ],
)
def test_a_note_knows_when_it_is_to_be_read_again(
    front: str, published: bool, turns: int | None
) -> None:
    read = note(front)
    assert (read.published, read.turns and read.turns.year) == (published, turns)


@pytest.mark.parametrize(
    ("path", "published"),
    [
        ("_posts/2999-1-31-a.md", False),
        ("blog/_posts/x/2999-01-31-a.md", False),
        ("_posts/2020-01-31-a.md", True),
        ("_posts/2999-13-31-a.md", True),
        ("journal/2999-01-31-a.md", True),
    ],
)
def test_a_post_is_published_on_the_day_of_its_name(path: str, published: bool) -> None:
    assert note("title: A", path).published is published


@pytest.mark.parametrize(
    "text",
    [
        "---\ntier:\n---\n",
        '---\ntier: ""\n---\n',
        "---\nTier: null\n---\n",
        '---\ntitle: A\n"tier ":\n---\n',
        '+++\ntier = ""\n+++\n',
        '{"tier": null}\n',
    ],
)
def test_a_tier_that_is_empty_means_members_and_is_reported(text: str) -> None:
    read = parse(f"{text}Words.".encode(), Origin("a.md", "a.md", AT), Rules({}, {}, publish=True))
    assert read.document is not None
    assert read.document.tier is Tier.MEMBERS
    (problem,) = read.problems
    assert "the note is for members until it is mended" in problem.reason
    assert problem.line == (3 if "title" in text else 1 if "{" in text else 2)


def test_an_empty_tier_by_another_name_means_members() -> None:
    rules = Rules({}, {}, publish=True, names={"tier": "access"})
    read = parse(b"---\naccess:\n---\nWords.", Origin("a.md", "a.md", AT), rules)
    assert read.document is not None
    assert read.document.tier is Tier.MEMBERS


@pytest.mark.parametrize("key", ['"tier "', '" Tier"', '"TIER\\t"'])
def test_spaces_around_a_key_open_no_note(key: str) -> None:
    read = note(f"{key}: members")
    assert read.document is not None
    assert (read.document.tier, read.problems) == (Tier.MEMBERS, [])
    assert not note('"draft ": true').published
    assert not note('" unlisted ": true').published
