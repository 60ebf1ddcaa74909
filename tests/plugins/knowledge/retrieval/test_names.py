"""The table of names follows the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Objects, Tier, Unruled
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.store import Store

DAY = datetime(2024, 10, 16, tzinfo=UTC)
WORDS = ("cell", "Cells", "#hats", "hat", "role", "tiers", "EIP-12", "eip 012: cells")


def entry(
    id: str, title: str, aliases: list[str], tier: Tier = Tier.OPEN, tags: Sequence[str] = ()
) -> DocumentEntry:
    fields: dict[str, Any] = {"type": "tag", "title": title, "date": DAY, "aliases": aliases}
    fields["tags"] = list(tags)
    metadata = CONTENT.validate_python(fields)
    return DocumentEntry(
        id=id,
        content_type=metadata.type,
        path=f"tags/{id}.md",
        metadata=metadata,
        synced_at=DAY,
        commit_sha="",
        tier=tier,
    )


def catalogue() -> Store:
    return Store(cast(Objects, None), Unruled())


def test_a_title_comes_before_an_alias_and_an_alias_tells_no_lower_tier() -> None:
    store = catalogue()
    store.show([entry("a", "Role", ["hat"], Tier.MEMBERS), entry("b", "Hats", [])])
    found = Names(store)
    assert [one.id for one in found.find("hat", Tier.MEMBERS)] == ["b", "a"]
    assert [one.id for one in found.find("hat", Tier.PUBLIC)] == ["b"]


ENTRIES = st.builds(
    entry,
    st.sampled_from(("a", "b", "hat")),
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), max_size=3),
    tags=st.lists(st.sampled_from(WORDS), max_size=3),
)


@given(st.lists(ENTRIES | st.sampled_from(("tag/a", "tag/b", "tag/hat"))))
def test_what_is_followed_is_what_would_be_made_anew(changes: list[DocumentEntry | str]) -> None:
    store = catalogue()
    following = Names(store)
    for change in changes:
        if isinstance(change, str):
            store.hide([change])
        else:
            store.show([change])
        for word in WORDS:
            anew = Names(store).find(word, Tier.MEMBERS)
            assert following.find(word, Tier.MEMBERS) == anew
            tagged = {one.key for one in Names(store).tagged(word, Tier.MEMBERS)}
            assert {one.key for one in following.tagged(word, Tier.MEMBERS)} == tagged
            numbered = {one.key for one in Names(store).numbered(word, Tier.MEMBERS)}
            assert {one.key for one in following.numbered(word, Tier.MEMBERS)} == numbered
