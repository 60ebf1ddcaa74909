"""Whoever searches for whatever sees nothing of others' private items, and all that they may."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.workflows.ids import new_id
from plugins.workflows.model import Visibility
from tests.examples import examples
from tests.plugins.workflows.search.conftest import ANA, BEN, PRIVATE, PUBLIC, Replica

LIMIT = 50
NAMES = st.sampled_from(
    ["Mend the roof", "mend the Roof", "Roof", "What to do", "!!", "\u5c4b\u6839", "R\u00f6\u00f6f"]
)
WRITERS = {ANA.person: ANA, BEN.person: BEN}
VIEWERS = st.sampled_from([ANA.person, BEN.person, None])
VISIBILITIES = st.sampled_from([PUBLIC, PRIVATE])
ADDING = st.tuples(NAMES, st.sampled_from([ANA.person, BEN.person]), VISIBILITIES)
CHANGING = st.tuples(st.integers(0, 20), st.one_of(st.none(), VISIBILITIES, NAMES))


@dataclass
class Known:
    """An item, as it should be."""

    id: str
    name: str
    owner: str
    visibility: Visibility
    version: int = 1
    deleted: bool = False

    def seen_by(self, viewer: str | None) -> bool:
        return not self.deleted and (self.visibility is PUBLIC or self.owner == viewer)


async def change(replica: Replica, item: Known, to: str | None) -> None:
    """Delete an item, show or hide it, or give it another name."""
    if item.deleted or to in (item.visibility, item.name):
        return
    writer = WRITERS[item.owner]
    if to is None:
        await replica.playbook.delete_workflow(writer, item.id, item.version)
        item.deleted = True
        return
    field = "visibility" if isinstance(to, Visibility) else "name"
    await replica.playbook.edit_workflow(writer, item.id, item.version, {field: to})
    setattr(item, field, to)
    item.version += 1


@settings(
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    adding=st.lists(ADDING, min_size=1, max_size=8),
    changing=st.lists(CHANGING, max_size=6),
    viewer=VIEWERS,
    words=st.one_of(NAMES, st.text(max_size=30)),
)
async def test_no_search_shows_what_is_hidden_and_every_name_finds_what_is_visible(
    adding: list[tuple[str, str, Visibility]],
    changing: list[tuple[int, str | None]],
    viewer: str | None,
    words: str,
    replica: Replica,
    wordless: Replica,
) -> None:
    mark = new_id()  # what an earlier example wrote is still there, without this tag
    known = []
    for name, owner, visibility in adding:
        fields = {"visibility": visibility, "tags": (mark,)}
        id = await replica.add(name, WRITERS[owner], **fields)
        known.append(Known(id, name, owner, visibility))
    for number, to in changing:
        await change(replica, known[number % len(known)], to)
    visible = {each.id for each in known if each.seen_by(viewer)}
    hidden = {each.id for each in known} - visible
    for each in (replica, wordless):
        for query in (words, None, *dict.fromkeys(item.name for item in known)):
            found = await each.found(query, viewer, LIMIT)
            assert not {hit.summary.id for hit in found.hits} & hidden
            assert all(
                hit.summary.visibility is PUBLIC or hit.summary.owner == viewer
                for hit in found.hits
            )
        for item in known:
            if item.seen_by(viewer):
                found = await each.found(item.name, viewer, LIMIT, tags=(mark,))
                scores = {hit.summary.id: hit.score for hit in found.hits}
                assert scores[item.id] == 1
