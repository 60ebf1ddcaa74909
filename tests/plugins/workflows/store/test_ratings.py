"""One rating a person; counts leave out a workflow's owner, and whoever is not here any more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.bin import Bin
from plugins.workflows.inputs import Writer
from plugins.workflows.model import Outcome, Visibility, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.standing import weight
from plugins.workflows.store.ratings import Ratings, Standing
from plugins.workflows.store.runs import Runs
from plugins.workflows.store.tables import metadata
from tests.examples import examples
from tests.plugins.workflows.conftest import Clock, workflow

PUBLIC = Visibility.PUBLIC
PEOPLE = ("person:alice", "person:bob", "person:carol")
ACTS = st.tuples(
    st.sampled_from(PEOPLE), st.sampled_from(("rate", "begin", "finish", "abandon")),
    st.one_of(st.none(), st.integers(1, 5)),
)  # fmt: skip


@pytest.fixture
def ratings(database: OwnedDatabase, clock: Clock) -> Ratings:
    return Ratings(database, clock)


@pytest.fixture
def runs(database: OwnedDatabase, clock: Clock) -> Runs:
    return Runs(database, clock, timedelta(days=90))


async def published(playbook: Playbook, who: Writer, name: str = "Review") -> Workflow:
    return await playbook.add_workflow(who, workflow(name=name, visibility=PUBLIC))


@settings(max_examples=examples(20), suppress_health_check=[*HealthCheck])
@given(st.lists(ACTS, max_size=12))
async def test_a_standing_is_what_everyone_but_the_owner_says_and_does(
    playbook: Playbook,
    ratings: Ratings,
    runs: Runs,
    database: OwnedDatabase,
    alice: Writer,
    acts: Sequence[tuple[str, str, int | None]],
) -> None:
    async with database.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            await connection.execute(table.delete())
    flow = await published(playbook, alice)
    said: dict[str, int] = {}
    began: dict[str, list[str]] = {each: [] for each in PEOPLE}
    ended: set[str] = set()
    for who, act, stars in acts:
        if act == "rate":
            if who == alice.person:
                with pytest.raises(ToolFailed, match="your own"):
                    await ratings.rate(who, flow.id, stars)
                continue
            await ratings.rate(who, flow.id, stars)
            said.pop(who, None)
            if stars is not None:
                said[who] = stars
        elif act == "begin":
            began[who].append((await runs.start(who, flow.id, 1, {"items": []})).id)
        elif began[who]:
            done = act == "finish"
            run = began[who][-1]
            outcome = Outcome.DONE if done else Outcome.ABANDONED
            try:
                await runs.finish(who, run, outcome)
            except ToolFailed:
                continue  # it was finished otherwise
            if done:
                ended.add(who)
    for who in PEOPLE:
        assert await ratings.of(who, flow.id) == said.get(who)
    others = {who for who in PEOPLE if began[who]} - {alice.person}
    wanted = Standing(len(said), sum(said.values()), len(others), len(ended - {alice.person}))
    found = (await ratings.standings([flow.id])).get(flow.id, Standing())
    assert found == wanted


async def test_an_owner_cannot_move_their_own_by_rating_or_walking_it(
    playbook: Playbook, ratings: Ratings, runs: Runs, database: OwnedDatabase, alice: Writer
) -> None:
    flow = await published(playbook, alice)
    for _ in range(20):
        run = await runs.start(alice.person, flow.id, 1, {"items": []})
        await runs.finish(alice.person, run.id, Outcome.DONE)
    with pytest.raises(ToolFailed, match="your own"):
        await ratings.rate(alice.person, flow.id, 5)
    # Not even by a row that is there in some other way.
    async with database.begin() as connection:
        values = {"workflow": flow.id, "person": alice.person, "stars": 5, "at": flow.created}
        await connection.execute(metadata.tables["playbook_ratings"].insert().values(values))
    standing = (await ratings.standings([flow.id])).get(flow.id, Standing())
    assert weight(standing) == 1


async def test_what_somebody_does_not_see_they_do_not_rate(
    playbook: Playbook, ratings: Ratings, alice: Writer, bob: Writer
) -> None:
    hidden = await playbook.add_workflow(alice, workflow())
    with pytest.raises(ToolFailed, match="private"):
        await ratings.rate(bob.person, hidden.id, 1)
    gone = await published(playbook, alice, "Gone")
    await ratings.rate(bob.person, gone.id, 4)
    await playbook.delete_workflow(alice, gone.id, 1)
    with pytest.raises(ToolFailed, match="not found"):
        await ratings.rate(bob.person, gone.id, 1)


async def test_ratings_come_back_with_a_workflow_and_go_with_it(
    playbook: Playbook, database: OwnedDatabase, ratings: Ratings, alice: Writer, bob: Writer
) -> None:
    kept = Bin(database, playbook, timedelta(days=30))
    flow = await published(playbook, alice)
    await ratings.rate(bob.person, flow.id, 4)
    await playbook.delete_workflow(alice, flow.id, 1)
    back = (await kept.restore(alice, flow.id)).workflow
    assert (await ratings.standings([flow.id]))[flow.id].average == 4
    await playbook.delete_workflow(alice, flow.id, back.version)
    await kept.erase(alice.person, flow.id)
    assert await ratings.of(bob.person, flow.id) is None


async def test_whoever_leaves_takes_their_ratings_along(
    playbook: Playbook, ratings: Ratings, alice: Writer, bob: Writer
) -> None:
    flow = await published(playbook, alice)
    await ratings.rate(bob.person, flow.id, 1)
    await ratings.erase(bob.person)
    assert await ratings.standings([flow.id]) == {}
