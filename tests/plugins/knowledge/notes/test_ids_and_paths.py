"""Ids never leave their folder; folders and patterns match whole parts of a path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.ids import (
    InvalidId,
    check_id,
    content_key,
    document_key,
    generate_id,
    path_id,
    raw_key,
)
from plugins.knowledge.notes.paths import EXCLUDED, PATH_TYPES, infer_type, is_note

PARTS = st.lists(st.text(min_size=1, max_size=8).filter(lambda part: "/" not in part), min_size=1)


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("artifacts/patterns/cell-governance.md", "cell-governance"),
        ("docs/rpp/index.md", "rpp"),
        ("docs/rpp/Index.md", "rpp"),
        ("index.md", "index"),
        ("tags/readme.md", "readme"),
        ("notes/B.02-why.md", "B.02-why"),
        ("notes/Jam\u0065\u0301.md", "Jam\u00e9"),
    ],
)
def test_an_id_is_the_stem_or_an_indexs_folder(path: str, id: str) -> None:
    assert generate_id(path) == id


@pytest.mark.parametrize(
    "id", ["", ".", "..", "../secret", "a/b", "a\\b", "a\0b", "a\nb", "x" * 236, "é" * 118, " "]
)
def test_what_cannot_be_an_id_is_refused(id: str) -> None:
    with pytest.raises(InvalidId):
        check_id(id)


@given(st.text())
def test_an_id_that_is_accepted_names_one_object_below_its_type(id: str) -> None:
    try:
        check_id(id)
    except InvalidId:
        return
    assert len(id.encode()) <= 235
    assert document_key(content_key(f"tag/{id}")) == f"tag/{id}"
    parts = content_key(f"tag/{id}").split("/")
    assert parts == ["content", "tag", f"{id}.json"]
    assert ".." not in parts


@given(PARTS)
def test_raw_keys_keep_paths_apart_and_suit_every_store(parts: list[str]) -> None:
    from gateway.services.objects import check_key

    path = "/".join(["notes", *parts]) + ".md"
    if any(part in (".", "..") for part in parts) or not path.isprintable():
        return
    key = raw_key(path)
    assert check_key(key) == key
    assert raw_key(path + "#1") != raw_key(path + "%231")


def test_a_path_that_no_store_holds_is_refused() -> None:
    with pytest.raises(InvalidId):
        raw_key("a/" * 600 + "b.md")
    with pytest.raises(InvalidId):
        raw_key("a" * 250 + "/b.md")


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("artifacts/patterns/a.md", "pattern"),
        ("artifacts/patterns/deep/er/a.md", "pattern"),
        ("artifacts/patterns-old/a.md", "file"),
        ("artifacts/a.md", "file"),
        ("tags.md", "file"),
        ("tagsoup/a.md", "file"),
        ("data/resources/patterns/a.md", "pattern"),
        ("data/resources/misc/a.md", "resource"),
        ("data/concepts/a.md", "tag"),
        ("data/a.md", "file"),
        ("x/tags/a.md", "file"),
    ],
)
def test_the_longest_folder_gives_the_type(path: str, type: str) -> None:
    assert infer_type(path, PATH_TYPES) == type


@given(
    st.lists(st.sampled_from("ab"), max_size=4),
    st.dictionaries(
        st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map("/".join),
        st.sampled_from(ContentType),
    ),
)
def test_the_type_is_that_of_the_longest_matching_prefix(
    folders: list[str], types: dict[str, ContentType]
) -> None:
    path = "/".join([*folders, "note.md"])
    holding = [folder for folder in types if path.startswith(folder + "/")]
    expected = types[max(holding, key=len)] if holding else ContentType.FILE
    assert infer_type(path, types) is expected


@pytest.mark.parametrize(
    "path", ["README.md", "CONTRIBUTING.md", "a/.obsidian/x.md", ".a.md", "a.txt", "a/md"]
)
def test_what_is_no_note(path: str) -> None:
    assert not is_note(path, EXCLUDED)


@pytest.mark.parametrize("path", ["index.md", "tags/readme.md", "docs/README.md", "a.MD"])
def test_what_is_a_note(path: str) -> None:
    assert is_note(path, EXCLUDED)


@pytest.mark.parametrize(
    ("pattern", "excluded", "kept"),
    [
        ("templates/", "a/templates/b/c.md", "a/templates.md"),
        ("/tools/", "tools/a/b.md", "a/tools/b.md"),
        ("*.draft.md", "a/b.draft.md", "a/b.md"),
        ("/notes/*.md", "notes/a.md", "notes/a/b.md"),
    ],
)
def test_patterns_exclude_as_documented(pattern: str, excluded: str, kept: str) -> None:
    assert not is_note(excluded, [pattern])
    assert is_note(kept, [pattern])


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("guides/setup/index.md", "guides.setup.index"),
        ("README.md", "README"),
        ("a/B.02-why.mdx", "a.B.02-why"),
        ("a/Jam\u0065\u0301.md", "a.Jam\u00e9"),
    ],
)
def test_an_id_by_path_names_the_whole_path(path: str, id: str) -> None:
    assert path_id(path) == id


@given(st.lists(st.text("ab\u00e9", min_size=1, max_size=120), min_size=1, max_size=6))
def test_long_paths_keep_apart_ids(parts: list[str]) -> None:
    path = "/".join(parts)
    ids = {path_id(f"{path}.md"), path_id(f"a{path}.md"), path_id(f"{path}/b.md")}
    assert len(ids) == 3
    assert all(check_id(id) for id in ids)


def test_a_pattern_gives_the_type_before_a_folder_does() -> None:
    types = {"docs": ContentType.ARTICLE, "docs/*/runbook-*": ContentType.PLAYBOOK}
    assert infer_type("docs/ops/runbook-db.md", types) is ContentType.PLAYBOOK
    assert infer_type("docs/ops/other.md", types) is ContentType.ARTICLE


def test_only_what_is_included_is_a_note_and_nothing_of_a_package() -> None:
    assert is_note("docs/a.markdown", [], ["/docs/"])
    assert not is_note("src/a.md", [], ["/docs/"])
    assert not is_note("docs/node_modules/x/a.md", [], ["/docs/"])
