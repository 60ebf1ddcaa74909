"""The catalogue of the store, and what follows its changes, are as if made anew."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Objects, Tier, Unruled
from plugins.knowledge import store as store_module
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.standing import Standings
from plugins.knowledge.store import Store

DAY = datetime(2024, 10, 16, tzinfo=UTC)
IDS = ("a", "b", "c", "d")


def entry(id: str, tier: Tier, supersedes: list[str], contests: list[str]) -> DocumentEntry:
    said: dict[str, Any] = {"supersedes": supersedes, "contests": contests}
    metadata = CONTENT.validate_python({"type": "tag", "title": id, "date": DAY, **said})
    return DocumentEntry(
        id=id,
        content_type=metadata.type,
        path=f"tags/{id}.md",
        metadata=metadata,
        synced_at=DAY,
        commit_sha="",
        tier=tier,
    )


SAID = st.lists(st.sampled_from(IDS), max_size=2)
ENTRIES = st.builds(entry, st.sampled_from(IDS), st.sampled_from(list(Tier)), SAID, SAID)
STEPS = st.lists(
    st.tuples(st.lists(ENTRIES | st.sampled_from(IDS), max_size=3), st.booleans()), max_size=12
)
"""What is shown or, by its id, hidden; and whether anyone looks then."""


def standings(store: Store, followed: Standings | None = None) -> object:
    known = followed or Standings(store, Names(store))
    return {
        (tier, one.key): (
            known.of(one, tier),
            [other.key for other in known.in_place_of(one, tier)],
        )
        for tier in Tier
        for one in store.entries(tier)
    }


@given(steps=STEPS)
def test_what_is_followed_is_what_would_be_made_anew(
    steps: list[tuple[list[DocumentEntry | str], bool]],
) -> None:
    with patch.object(store_module, "REMEMBERED_CHANGES", 3):
        store = Store(cast("Objects", None), Unruled())
    following = Standings(store, Names(store))
    now: dict[str, DocumentEntry] = {}
    states: list[Mapping[str, DocumentEntry]] = []
    for changes, looks in steps:
        for change in changes:
            if isinstance(change, str):
                store.hide([f"tag/{change}"])
                now.pop(f"tag/{change}", None)
            else:
                store.show([change])
                now[change.key] = change
            states += [dict(now)] * (store.version - len(states))
        if looks:
            for tier in Tier:
                allowed = [one for _, one in sorted(now.items()) if tier.allows(one.tier)]
                assert list(store.entries(tier)) == allowed
            assert standings(store, following) == standings(store)
    for version, then in enumerate([{}, *states]):
        keys = store.changed_since(version)
        if keys is None:
            assert store.version - version > 3
        else:
            assert {one for one in {*then, *now} if then.get(one) is not now.get(one)} <= {*keys}
