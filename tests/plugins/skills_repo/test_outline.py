"""An outline of the docs fits, leaves nothing out unsaid, and comes to every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.repositories import SourceFailed
from plugins.skills_repo.outline import MAX_BYTES, outline
from tests.examples import examples
from tests.plugins.skills_repo.test_tools import code_of

KEYS = st.sampled_from(["a", "b", "c", "naming things", "\u00e9t\u00e9", "index"])
LEAVES = st.one_of(st.none(), st.text(max_size=20), st.just("Long words. " * 60))
TREES = st.recursive(
    st.dictionaries(KEYS, LEAVES, min_size=1, max_size=6),
    lambda inner: st.dictionaries(KEYS, LEAVES | inner, min_size=1, max_size=6),
    max_leaves=40,
)


def large(tree: dict[str, Any], copies: int) -> dict[str, Any]:
    """A tree with each entry several times, which no answer has room for."""
    return {
        f"{key} {number}": large(value, 3) if isinstance(value, dict) else value
        for key, value in tree.items()
        for number in range(copies)
    }


def leaves(tree: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key)


def walked(tree: Any) -> Iterator[tuple[str, ...]]:
    """Every page that one comes to by asking for what the answers name."""
    asked: list[tuple[list[str], int]] = [([], 0)]
    for section, offset in asked:
        shown = outline(tree, section, offset, details=False)
        assert len(json.dumps(shown.wire(), ensure_ascii=False).encode()) < 1.3 * MAX_BYTES
        found = list(leaves(shown.docs))
        if shown.next_offset is None and offset == 0:
            assert shown.pages == len(found) + sum(each.pages for each in shown.folded)
        yield from found
        asked += [(each.path, 0) for each in shown.folded]
        if shown.next_offset is not None:
            assert shown.next_offset > offset
            asked.append((section, shown.next_offset))


@given(TREES, st.integers(1, 25))
@settings(max_examples=examples(25), deadline=None)
def test_every_page_is_come_to_once_by_answers_that_fit(tree: Any, copies: int) -> None:
    tree = large(tree, copies)
    assert sorted(walked(tree)) == sorted(leaves(tree))
    whole = outline(tree, (), 0, details=True)
    assert (whole.docs, whole.folded, whole.next_offset) == (tree, [], None)


@given(TREES)
@settings(max_examples=examples(30), deadline=None)
def test_a_few_pages_are_shown_whole(tree: Any) -> None:
    if len(json.dumps(tree, ensure_ascii=False).encode()) <= MAX_BYTES:
        assert outline(tree, (), 0, details=False) == outline(tree, (), 0, details=True)


def test_a_section_that_is_not_there_is_said_with_the_nearest() -> None:
    tree = {"guides": {"naming": {"a": None}}, "page": None}
    with pytest.raises(SourceFailed, match=r"Did you mean 'guides/naming'"):
        outline(tree, ["guides", "namings"], 0, details=False)
    with pytest.raises(SourceFailed, match="read it with get_doc"):
        outline(tree, ["page"], 0, details=False)


async def test_a_real_tree_is_folded_and_each_section_has_its_pages(
    garden: Any, test_data: Path
) -> None:
    garden.root = test_data / "docs-tree-a"
    sources = [
        garden.source("civic", "docs", path="civic"),
        garden.source("star", "docs", path="starlight"),
    ]
    async with garden.opened(*sources) as portal:
        first = await portal.call("list_docs")
        jsonschema_rs.validate(
            (await portal.tools())["list_docs"]["outputSchema"], first.structured
        )
        assert len(json.dumps(first.structured)) < MAX_BYTES * 1.3
        whole = (await portal.call("list_docs", {"details": True})).structured
        assert (whole["pages"], whole["folded"]) == (209, [])
        assert first.structured["pages"] == 209
        assert first.structured["folded"]
        for each in first.structured["folded"]:
            asked = {"section": each["path"], "details": True}
            found = (await portal.call("list_docs", asked)).structured
            assert len(list(leaves(found["docs"]))) == found["pages"] == each["pages"]
            path = next(leaves(found["docs"]))
            assert not (await portal.call("get_doc", {"path": list(path)})).is_error
        assert await code_of(portal, "list_docs", section=["civics"]) == "NOT_FOUND"


async def test_a_hidden_page_is_neither_shown_nor_counted_nor_a_section(garden: Any) -> None:
    for number in range(300):
        garden.write(f"docs/guides/{number}.md", f"---\ndescription: {'word ' * 30}\n---\n")
    garden.write("docs/secret/plan.md", "Plan.")
    rules = {
        "default": "open",
        "items": {
            f"skills_repo/page:handbook/{page}.md": {"tier": "members", "hidden": True}
            for page in ("secret/plan", *(f"guides/{number}" for number in range(100)))
        },
    }
    source = garden.source("handbook", "docs", tier="open")
    async with garden.opened(source, tiers=rules) as portal:
        for tier, count in (("open", 200), ("members", 301)):
            shown = (await portal.call("list_docs", tier=tier)).structured
            assert shown["pages"] == count
            assert ("secret" in json.dumps(shown)) == (tier == "members")
            guides = next(each for each in shown["folded"] if each["path"] == ["guides"])
            assert guides["pages"] == min(count, 300)
        refused = await portal.call("list_docs", {"section": ["secret"]}, tier="open")
        assert refused.is_error
        missed = await portal.call("list_docs", {"section": ["secres"]}, tier="open")
        assert "'secret'" not in missed.text
