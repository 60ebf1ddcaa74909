"""Where drafts go: whatever a title says, in the source, by its type, and over nobody's file."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.repositories.paths import problem
from plugins.knowledge.drafts.placing import (
    MAX_SLUG_BYTES,
    folder_of,
    path_of,
    same_place,
    slug_of,
)
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.ids import generate_id
from plugins.knowledge.notes.paths import PATH_TYPES, infer_type

_NASTY = st.sampled_from(
    ["..", "../../etc/passwd", "/", "\\", ".git", "%2e%2e", "\x00", "\u202e", "con", "AUX", "index"]
)
_TITLES = st.lists(st.one_of(st.text(max_size=12), _NASTY), max_size=6).map(" ".join)
_PATHS = st.lists(
    st.tuples(st.sampled_from(sorted(PATH_TYPES)), st.integers(0, 9)).map(
        lambda each: f"{each[0]}/page-{each[1]}.md"
    ),
    max_size=12,
)


@given(_TITLES, st.sampled_from(ContentType), _PATHS)
def test_a_path_is_one_that_every_source_and_every_branch_takes(
    title: str, content_type: ContentType, paths: list[str]
) -> None:
    try:
        slug = slug_of(title)
    except ToolFailed:  # it makes no name, and another one is asked for
        return
    path = path_of(content_type, slug, PATH_TYPES, paths)
    folder, name = posixpath.split(path)
    assert problem(path) is None
    assert folder in {*PATH_TYPES, "notes"}
    assert name == f"{slug}.md"
    assert "." not in slug
    assert "/" not in slug
    assert len(slug.encode()) <= MAX_SLUG_BYTES
    assert generate_id(path) == slug
    assert slug_of(slug) == slug


@given(_TITLES)
def test_names_that_only_look_different_are_one_place(title: str) -> None:
    assert same_place(f"notes/{title}.md", f"notes/{title}.md".swapcase()) or (
        title.casefold() != title.swapcase().casefold()
    )


@given(st.sampled_from(sorted(set(PATH_TYPES.values()))), _PATHS)
def test_the_folder_is_of_the_type_and_the_one_that_most_pages_lie_in(
    content_type: ContentType, paths: list[str]
) -> None:
    folder = folder_of(content_type, PATH_TYPES, paths)
    assert infer_type(f"{folder}/x.md", PATH_TYPES) is content_type
    counts = {
        each: sum(path.startswith(f"{each}/") for path in paths)
        for each, type in PATH_TYPES.items()
        if type is content_type
    }
    assert counts[folder] == max(counts.values())


def test_a_new_kind_of_page_goes_where_its_relatives_are() -> None:
    paths = ["data/resources/patterns/a.md", "data/resources/protocols/b.md"]
    assert folder_of(ContentType.PLAYBOOK, PATH_TYPES, paths) == "data/resources/playbooks"
    assert folder_of(ContentType.PLAYBOOK, PATH_TYPES, []) == "artifacts/playbooks"
    assert folder_of(ContentType.REFERENCE, PATH_TYPES, paths) == "notes"
    mine = {**PATH_TYPES, "docs/*/runbook-*": ContentType.REFERENCE}
    assert folder_of(ContentType.REFERENCE, mine, paths) == "notes"


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Water rights", "water-rights"),
        ("  What's  next? ", "what-s-next"),
        ("Straße & Größe", "strasse-grösse"),
        ("水の権利", "水の権利"),
        ("a_b__c", "a-b-c"),
        ("x" * 300, "x" * MAX_SLUG_BYTES),
    ],
)
def test_a_title_makes_a_name_that_people_can_read(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@pytest.mark.parametrize("title", ["", "???", "..", "README", "index", "CON", "com1", "🌱"])
def test_a_title_that_makes_no_name_asks_for_one(title: str) -> None:
    with pytest.raises(ToolFailed, match="Give slug"):
        slug_of(title)
