"""The map of all documents: who sees which, and that nothing tells of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Tier
from plugins.knowledge.document_map import DocumentMap
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.store import Store
from plugins.knowledge.views.graph import whole_base
from tests.examples import examples
from tests.plugins.knowledge.retrieval.conftest import Base, document, opened


@pytest.fixture
async def base(tmp_path: Path) -> AsyncGenerator[Base]:
    async with opened(tmp_path) as base:
        yield base


async def whole(
    base: Base, tier: Tier = Tier.MEMBERS, limit: int = 60, **wanted: Any
) -> DocumentMap:
    return await base.knowledge.map(SearchFilters.model_validate(wanted), limit, tier)


async def test_documents_come_with_their_links_the_most_linked_first(base: Base) -> None:
    await base.put(
        document("article/a", "[[b]] and [[c]], and [[b]] again", group="crew"),
        document("article/b", "[[c]] and itself: [[b]]", tags=["Water"]),
        document("article/c"),
        document("article/d"),
    )
    found = await whole(base)
    assert [(one.id, one.links) for one in found.documents] == [
        ("a", 2),
        ("b", 2),
        ("c", 2),
        ("d", 0),
    ]
    assert {(one.source, one.target) for one in found.links} == {
        ("article/a", "article/b"), ("article/a", "article/c"), ("article/b", "article/c"),
    }  # fmt: skip
    assert (found.total, found.total_links) == (4, 3)
    assert [one.value for one in found.facets["group"]] == ["crew"]
    narrowed = await whole(base, tags=["water"])
    assert [(one.id, one.links) for one in narrowed.documents] == [("b", 0)]


async def test_what_is_left_out_is_counted_and_said_in_the_picture(base: Base) -> None:
    await base.put(
        document("article/hub", "".join(f"[[n{number}]]" for number in range(9))),
        *(document(f"article/n{number}") for number in range(9)),
    )
    found = await whole(base, limit=3)
    assert [one.id for one in found.documents] == ["hub", "n0", "n1"]
    graph = whole_base(found.model_dump(mode="json", by_alias=True, exclude_none=True), {})
    assert graph.title == (
        "3 documents and 2 links; an arrow is a link. 7 documents and 7 links are left out."
    )


async def test_a_changed_document_is_on_the_next_map_as_it_is_now(base: Base) -> None:
    await base.put(document("article/a", "[[b]]"), document("article/b"))
    assert (await whole(base)).total_links == 1
    await base.put(document("article/a", "nothing"))
    assert (await whole(base)).total_links == 0


async def test_groups_are_clusters_and_types_where_nothing_has_a_group(base: Base) -> None:
    await base.put(document("article/a", group="crew"), document("tag/b"))
    expected: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"crew", "In no group"}),
        ({"contentType": "tag"}, {"tag"}),
    ]
    for wanted, clusters in expected:
        answer = await whole(base, **wanted)
        graph = whole_base(answer.model_dump(mode="json", by_alias=True, exclude_none=True), {})
        assert {node.cluster for node in graph.nodes} == clusters


NAMES = [f"d{number}" for number in range(6)]
DOCUMENTS = st.lists(
    st.tuples(
        st.sampled_from(["article", "tag"]),
        st.sampled_from(list(Tier)),
        st.lists(st.sampled_from(NAMES), max_size=4),
        st.sampled_from(["", "crew", "team"]),
        st.sampled_from([NAMES[0], "Alias", ""]),
    ),
    min_size=1,
    max_size=6,
)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(given_documents=DOCUMENTS, limit=st.integers(1, 6))
async def test_a_map_is_the_same_as_if_what_a_tier_may_not_see_were_not_there(
    base: Base, given_documents: list[Any], limit: int
) -> None:
    made = [
        document(
            f"{kind}/{name}",
            "".join(f"[[{link}]]" for link in links) + " [[Alias]]",
            tier=tier,
            group=group or None,
            aliases=[alias] if alias else None,
        )
        for name, (kind, tier, links, group, alias) in zip(NAMES, given_documents, strict=False)
    ]
    for tier in Tier:
        maps = []
        for some in (made, [one for one in made if tier.allows(one.tier)]):
            known = base.knowledge.store.entries(Tier.MEMBERS)
            await base.knowledge.store.remove([entry.key for entry in known])
            await base.knowledge.store.put(some)
            maps.append(await whole(base, tier, limit))
        assert maps[0] == maps[1]
        shown = {f"{one.content_type}/{one.id}" for one in maps[0].documents}
        assert len(shown) == min(limit, sum(tier.allows(one.tier) for one in made))
        assert all({one.source, one.target} <= shown for one in maps[0].links)
        if limit == len(NAMES):
            degrees = Counter(key for one in maps[0].links for key in (one.source, one.target))
            for one in maps[0].documents:
                assert one.links == degrees[f"{one.content_type}/{one.id}"]


class Ruled:
    """What ``tiers.yaml`` says of one document."""

    version = 1
    ruled = True

    def tier(self, row: str, own: Tier = Tier.OPEN) -> Tier:
        return Tier.MEMBERS if row == "document:article/b" else own


async def test_what_tiers_yaml_closes_is_on_no_map_and_in_no_count(base: Base) -> None:
    await base.put(document("article/a", "[[b]]"), document("article/b", "[[a]]"))
    store: Store = base.knowledge.store
    await whole(base, Tier.OPEN)
    store._rows = Ruled()
    found = await whole(base, Tier.OPEN)
    assert [(one.content_type, one.id, one.links) for one in found.documents] == [
        (ContentType.ARTICLE, "a", 0)
    ]
    assert (found.total, found.total_links, found.links) == (1, 0, [])
