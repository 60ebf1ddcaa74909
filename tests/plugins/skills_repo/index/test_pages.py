"""The tree of pages and the paths into it: whatever is listed is found again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plugins.skills_repo.index.entries import DocEntry
from plugins.skills_repo.index.pages import candidates, tree


def page(path: str) -> DocEntry:
    return DocEntry(path=path, title="T", description=path)


def leaves(section: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[list[str], Any]]:
    for key, value in section.items():
        if isinstance(value, dict):
            yield from leaves(value, (*above, key))
        else:
            yield [*above, key], value


def test_a_path_is_tried_in_the_documented_order() -> None:
    assert candidates(["a", "b"]) == ["a/b/index.md", "a/b.md", "a/b/index.mdx", "a/b.mdx"]
    assert candidates([]) == ["index.md", "index.mdx"]


def test_sections_hold_pages_and_a_lone_index_is_the_folder_itself() -> None:
    pages = ["index.md", "guide/index.md", "guide/one.md", "about/index.mdx", "deep/er/x.mdx"]
    assert tree(map(page, pages)) == {
        "index": "index.md",
        "guide": {"index": "guide/index.md", "one": "guide/one.md"},
        "about": "about/index.mdx",
        "deep": {"er": {"x": "deep/er/x.mdx"}},
    }


def test_a_page_beside_a_folder_of_its_name_is_shown_with_its_ending() -> None:
    assert tree([page("a.md"), page("a/b.md")]) == {"a.md": "a.md", "a": {"b": "a/b.md"}}
    assert tree([page("a.md"), page("a/index.md")]) == {"a.md": "a.md", "a": "a/index.md"}


def test_a_leaf_says_the_description_or_the_title_or_nothing() -> None:
    entries = [
        DocEntry(path="a.md", title="A", description="About a."),
        DocEntry(path="b.md", title="B", description=None),
        DocEntry(path="c.md", title=None, description=None),
    ]
    assert tree(entries) == {"a": "About a.", "b": "B", "c": None}


_PART = st.sampled_from(["a", "b", "index", "c"])
_PATHS = st.sets(
    st.tuples(st.lists(_PART, max_size=3), _PART, st.sampled_from([".md", ".mdx"])).map(
        lambda each: "/".join((*each[0], each[1] + each[2]))
    ),
    max_size=12,
)


@given(_PATHS)
def test_each_page_is_listed_once_and_its_path_leads_to_it(paths: set[str]) -> None:
    listed = list(leaves(tree(map(page, paths))))
    assert sorted(path for _, path in listed) == sorted(paths)
    for keys, path in listed:
        assert next(each for each in candidates(keys) if each in paths) == path


def test_each_real_page_is_found_by_the_path_it_is_listed_under(test_data: Path) -> None:
    root = test_data / "docs-tree-a"
    paths = {str(path.relative_to(root)) for path in root.rglob("*.md*")}
    listed = list(leaves(tree(map(page, paths))))
    assert len(listed) == len(paths) > 200
    for keys, path in listed:
        assert next(each for each in candidates(keys) if each in paths) == path
