"""Who deletes their account: what goes, what stays without a name, and that no more is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from gateway.contract import Objects, ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import AttachmentDraft, Reference, StageItemDraft, Writer
from plugins.workflows.model import FORMER, TargetType, Visibility, Workflow
from plugins.workflows.personal_data import PersonalRecords
from plugins.workflows.plans.plans import Plans
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.folder_edits import Addition, FolderChanges, FolderEdits
from plugins.workflows.store.folders import FolderDraft
from plugins.workflows.store.library import Library
from plugins.workflows.store.links import Links
from plugins.workflows.store.ratings import Ratings
from plugins.workflows.store.runs import Runs
from plugins.workflows.store.tables import metadata
from tests.examples import examples
from tests.plugins.workflows.conftest import Clock, prompt, skill, stage, workflow

FLOW, CARD = TargetType.WORKFLOW, TargetType.SKILL
PUBLIC = Visibility.PUBLIC
FILE = AttachmentDraft("list.md", "text/markdown", b"# Alicewords")


@dataclass
class Book:
    """A playbook with everything that people do in it."""

    database: OwnedDatabase
    playbook: Playbook
    runs: Runs
    plans: Plans
    folders: FolderEdits
    library: Library
    personal: PersonalRecords

    async def dump(self) -> str:
        """Everything in the database, as one text."""
        lines = []
        async with self.database.engine.connect() as connection:
            for table in metadata.sorted_tables:
                rows = await connection.execute(text(f"SELECT * FROM {table.name}"))
                lines += [f"{table.name} {tuple(row)}" for row in rows]
        return "\n".join(lines)

    async def run(self, who: Writer, flow: Workflow) -> str:
        known = await self.plans.of_workflow(flow.id, who.person)
        plan = known.plan.to_json()
        return (await self.runs.start(who.person, flow.id, flow.version, plan)).id

    async def shelve(self, who: Writer, item: str) -> None:
        folder = await self.folders.create(who, FolderDraft(name="Shelf"))
        changes = FolderChanges(fields={}, add=[Addition(ref=item)])
        await self.folders.edit(who, folder.id, folder.version, changes)

    async def exported(self, person: str) -> dict[str, bytes]:
        return {each.path: each.data async for each in self.personal.export(person)}


@pytest.fixture
def book(database: OwnedDatabase, playbook: Playbook, clock: Clock) -> Book:
    runs = Runs(database, clock, timedelta(days=90))
    return Book(
        database,
        playbook,
        runs,
        Plans(playbook, runs),
        FolderEdits(database, clock),
        Library(database, clock),
        PersonalRecords(database, playbook, runs, Ratings(database, clock), Links(database, clock)),
    )


def placed(id: str, type: TargetType = CARD) -> StageItemDraft:
    return StageItemDraft(Reference(type, id))


async def test_what_nobody_else_uses_is_gone_to_the_last_word(
    book: Book, alice: Writer, bob: Writer, objects: Objects
) -> None:
    card = await book.playbook.add_skill(
        alice, skill("Alicewords", content="Alicewords", tags=("alicewords",), attachments=(FILE,))
    )
    private = stage(prompt("Alicewords", content="Alicewords"), placed(card.id), name="Alicewords")
    for visibility in (PUBLIC, Visibility.PRIVATE):
        made = workflow(stage(prompt("Alicewords")), name="Alicewords", visibility=visibility)
        await book.playbook.add_workflow(alice, made)
    mine = await book.playbook.add_workflow(alice, workflow(private, name="Alicewords"))
    old = await book.playbook.add_workflow(alice, workflow(name="Alicewords long ago"))
    await book.playbook.delete_workflow(alice, old.id, old.version)
    await book.shelve(alice, card.id)
    run = await book.run(alice, mine)
    await book.runs.finish(alice.person, run, "done", "Alicewords")  # type: ignore[arg-type]
    theirs = await book.playbook.add_workflow(bob, workflow(name="Of Bob"))
    assert "Alicewords" in await book.dump()
    assert alice.person in await book.personal.people()
    await book.personal.erase(alice.person)
    await book.personal.erase(alice.person)
    left = (await book.dump()).casefold()
    assert "alice" not in left
    assert [each async for each in objects.list("")] == []
    assert list(await book.personal.people()) == [bob.person]
    assert await book.playbook.workflow(theirs.id, bob.person) == theirs


@pytest.mark.parametrize("how", ["library", "folder", "run", "workflow"])
async def test_what_somebody_else_uses_stays_without_a_name(
    book: Book, alice: Writer, bob: Writer, how: str
) -> None:
    card = await book.playbook.add_skill(
        alice, skill("Plain words", visibility=PUBLIC, attachments=(FILE,))
    )
    held = stage(prompt("Ask first"), placed(card.id))
    flow = await book.playbook.add_workflow(alice, workflow(held, visibility=PUBLIC))
    used = card.id if how == "workflow" else flow.id
    if how == "library":
        await book.library.add(bob.person, flow.id)
    elif how == "folder":
        await book.shelve(bob, flow.id)
    elif how == "run":
        await book.run(bob, flow)
    else:
        await book.playbook.add_workflow(bob, workflow(stage(placed(card.id)), name="Bob's"))
    await book.personal.erase(alice.person)
    left = await book.dump()
    assert alice.person not in left
    assert "'Alice'" not in left
    if how == "workflow":
        with pytest.raises(ToolFailed, match="not found"):
            await book.playbook.workflow(flow.id, bob.person)
    else:
        stays = await book.playbook.workflow(flow.id, bob.person)
        assert (stays.owner, stays.author, stays.name) == (FORMER, None, flow.name)
        assert [each.item.name for each in stays.stages[0].items] == ["Ask first", "Plain words"]
    stays_card = await book.playbook.skill(card.id, bob.person)
    assert stays_card.content == card.content
    assert (await book.playbook.attachment(card.id, FILE.name, bob.person))[1] == FILE.data
    assert used in left


async def test_what_was_taken_back_goes_also_where_others_have_run_it(
    book: Book, alice: Writer, bob: Writer
) -> None:
    card = await book.playbook.add_skill(alice, skill("Card", content="Aword", visibility=PUBLIC))
    flow = await book.playbook.add_workflow(
        alice, workflow(stage(prompt("Step", content="Aword")), visibility=PUBLIC)
    )
    theirs = await book.playbook.add_workflow(bob, workflow(stage(placed(card.id)), name="Bob's"))
    of_alices, of_own = await book.run(bob, flow), await book.run(bob, theirs)
    await book.playbook.edit_workflow(
        alice, flow.id, flow.version, {"visibility": Visibility.PRIVATE}
    )
    await book.playbook.edit_skill(alice, card.id, card.version, {"visibility": Visibility.PRIVATE})
    await book.personal.erase(alice.person)
    assert "Aword" not in await book.dump()
    assert {each.id for each in await book.runs.listed(bob.person)} == {of_alices, of_own}


async def test_what_the_last_user_leaves_goes_with_them(
    book: Book, alice: Writer, bob: Writer
) -> None:
    flow = await book.playbook.add_workflow(
        alice, workflow(stage(prompt("Aword")), name="Aword", visibility=PUBLIC)
    )
    await book.library.add(bob.person, flow.id)
    await book.personal.erase(alice.person)
    assert "Aword" in await book.dump()
    await book.personal.erase(bob.person)
    assert "Aword" not in await book.dump()


async def test_two_of_one_name_may_both_stay(book: Book, alice: Writer, bob: Writer) -> None:
    carol = Writer("person:carol", "Carol", may_publish=True)
    ids = []
    for who in (alice, bob):
        flow = await book.playbook.add_workflow(who, workflow(visibility=PUBLIC))
        await book.library.add(carol.person, flow.id)
        ids.append(flow.id)
    for who in (alice, bob):
        await book.personal.erase(who.person)
    found = [await book.playbook.workflow(each, carol.person) for each in ids]
    assert len({each.key for each in found}) == 2


async def test_the_export_is_whole_and_of_one_person(
    book: Book, alice: Writer, bob: Writer
) -> None:
    await book.playbook.add_workflow(bob, workflow(name="Of Bob", visibility=PUBLIC))
    await book.playbook.add_skill(alice, skill("Mine", attachments=(FILE,)))
    flow = await book.playbook.add_workflow(alice, workflow(name="Walk"))
    await book.run(alice, flow)
    old = await book.playbook.add_workflow(alice, workflow(name="Long ago"))
    await book.playbook.delete_workflow(alice, old.id, old.version)
    await book.shelve(alice, flow.id)
    found = await book.exported(alice.person)
    assert found["skills/mine/list.md"] == FILE.data
    assert {"workflows/walk.yaml", "skills/mine.md", "runs.json", "folders.json"} <= set(found)
    assert b"Long ago" in found["deleted-workflows.json"]
    assert not any(b"Of Bob" in data for data in found.values())
    assert await book.exported("person:nobody") == {}


NUMBERS = count()
STEPS = st.tuples(
    st.sampled_from(["flow", "card", "both", "keep", "shelve", "run", "use", "hide", "drop"]),
    st.integers(0, 2),
    st.booleans(),
)


@pytest.mark.heavy
@pytest.mark.timeout(900)
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, min_size=3, max_size=16), leaver=st.integers(0, 2))
async def test_whatever_happened_the_person_is_gone_and_others_lose_nothing(
    book: Book, steps: Sequence[tuple[str, int, bool]], leaver: int
) -> None:
    example = next(NUMBERS)
    people = [
        Writer(f"person:p{example}x{who}", f"Name{example}x{who}", may_publish=True)
        for who in range(3)
    ]
    made: list[tuple[TargetType, str, int]] = []
    for number, (step, who, choice) in enumerate(steps):
        try:
            await _do(book, people, made, step, who, choice, f"w{example}x{number}")
        except ToolFailed:
            continue  # not seen, taken back, or deleted by now
    others = [each for number, each in enumerate(people) if number != leaver]
    before = {each.person: await _seen(book, made, each.person) for each in others}
    used = await _used(book, others)
    gone = people[leaver]
    await book.personal.erase(gone.person)
    left = await book.dump()
    assert gone.person not in left
    assert f"'{gone.name}'" not in left
    for each in others:
        after = await _seen(book, made, each.person)
        kept = {id for _, id, owner in made if owner != leaver or id in used}
        assert after == {id: words for id, words in before[each.person].items() if id in kept}


async def _do(
    book: Book,
    people: Sequence[Writer],
    made: list[tuple[TargetType, str, int]],
    step: str,
    who: int,
    choice: bool,
    words: str,
) -> None:
    writer = people[who]
    visibility = PUBLIC if choice else Visibility.PRIVATE
    if step in ("card", "both"):
        card = await book.playbook.add_skill(writer, skill(words, visibility=visibility))
        made.append((CARD, card.id, who))
    if step in ("flow", "both"):
        of = [placed(made[-1][1])] if step == "both" else []
        draft = workflow(stage(prompt(words), *of), name=words, visibility=visibility)
        made.append((FLOW, (await book.playbook.add_workflow(writer, draft)).id, who))
    if not made or step in ("card", "both", "flow"):
        return
    type, id, owner = made[len(words) * 7 % len(made)] if choice else made[-1]
    if step == "keep":
        await book.library.add(writer.person, id)
    elif step == "shelve":
        await book.shelve(writer, id)
    elif step == "run" and type is FLOW:
        await book.run(writer, await book.playbook.workflow(id, writer.person))
    elif step == "use" and type is CARD:
        draft = workflow(stage(placed(id)), name=words)
        made.append((FLOW, (await book.playbook.add_workflow(writer, draft)).id, who))
    elif step in ("hide", "drop"):
        await _take_away(book, people[owner], type, id, step)


async def _take_away(book: Book, owner: Writer, type: TargetType, id: str, step: str) -> None:
    playbook: Any = book.playbook
    kind = "workflow" if type is FLOW else "skill"
    item = await getattr(playbook, kind)(id, owner.person)
    if step == "drop":
        await getattr(playbook, f"delete_{kind}")(owner, id, item.version)
    else:
        change = {"visibility": Visibility.PRIVATE}
        await getattr(playbook, f"edit_{kind}")(owner, id, item.version, change)


async def _seen(
    book: Book, made: Sequence[tuple[TargetType, str, int]], viewer: str
) -> dict[str, str]:
    """What somebody sees, and its name."""
    found: dict[str, str] = {}
    for type in (FLOW, CARD):
        ids = [id for kind, id, _ in made if kind is type]
        some = await book.playbook.summaries(type, ids, viewer)
        found |= {id: each.name for id, each in some.items()}
    return found


async def _used(book: Book, others: Sequence[Writer]) -> set[str]:
    """What others have in their libraries, folders, runs and workflows, read plainly."""
    persons = [each.person for each in others]
    found: set[str] = set()
    queries = (
        "SELECT target FROM playbook_library WHERE person = :p",
        "SELECT i.target FROM playbook_folder_items i JOIN playbook_folders f ON f.id = i.folder"
        " WHERE f.owner = :p",
        "SELECT workflow FROM playbook_runs WHERE person = :p",
        "SELECT s.skill FROM playbook_stage_skills s JOIN playbook_stages g ON g.id = s.stage"
        " JOIN playbook_workflows w ON w.id = g.workflow WHERE w.owner = :p AND w.deleted IS NULL",
    )
    inside = text(
        "SELECT s.skill FROM playbook_stage_skills s JOIN playbook_stages g ON g.id = s.stage"
        " JOIN playbook_workflows w ON w.id = g.workflow WHERE w.id = :w"
        " AND w.visibility = 'PUBLIC' AND w.deleted IS NULL"
    )
    async with book.database.engine.connect() as connection:
        for query in queries:
            for person in persons:
                found |= set(await connection.scalars(text(query), {"p": person}))
        for id in sorted(found):
            found |= set(await connection.scalars(inside, {"w": id}))
    return found
