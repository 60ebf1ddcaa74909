"""Many writes at once: each is checked on its own, and counts as a single one would."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gateway.contract import Caller
from plugins.knowledge.memory.batches import batches as module
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.model.requests import MAX_BATCH_ENTRIES, BatchRequest
from plugins.knowledge.memory.model.responses import BatchReport
from plugins.knowledge.memory.rights.roles import Roles
from tests.examples import times
from tests.plugins.knowledge.memory.batches.conftest import Sender, draft, sender_on
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, Opener

pytestmark = pytest.mark.anyio
WAITS = {"require_approval": True}
MANY = times(thorough=MAX_BATCH_ENTRIES, ordinary=1_500)


def counts(report: BatchReport) -> tuple[str, int, int, int]:
    told = report.results
    return report.status, told.succeeded, told.failed, told.pending


def became(report: BatchReport) -> list[str]:
    return [each.status for each in report.entries]


async def test_many_entries_are_kept_and_found_by_meaning_and_by_words(sender: Sender) -> None:
    report = await sender.send(ANA, "create", [draft(f"Barrel {n} leaks.") for n in range(60)])
    assert counts(report) == ("completed", 60, 0, 0)
    assert became(report) == ["created"] * 60
    look = sender.world.memory.reader
    for each in report.entries:
        assert (await look.entry(each.id, ANA)).content == f"Barrel {each.index} leaks."
    for mode in ("keyword", "semantic"):
        found = await sender.world.found(ANA, "barrel leaks", mode=mode, options={"limit": 100})
        assert len(found) == 60
    assert await sender.world.found(CY, "barrel") == []
    audit_records = await sender.world.memory.entries.audit.of(report.entries[7].id)
    assert [(each.person, each.operation) for each in audit_records] == [("person:ana", "create")]


async def test_one_bad_entry_is_one_error_and_the_others_go_on(sender: Sender) -> None:
    bad = [
        {"entry": {"content": ""}},
        {"entry": {"content": "x", "colour": 1}},
        5,
        {"entry": {"content": "a\0b"}},
        {"entry": {"content": "x" * 300_000}},
        {"entry": {"content": "x", "embedding": [1.0]}},
    ]
    entries = [each for one in bad for each in (draft(f"Good before {one!r:.40}"), one)]
    report = await sender.send(ANA, "create", entries, continue_on_error=True)
    assert counts(report) == ("completed", 6, 6, 0)
    assert [(each.index, each.code) for each in report.results.errors] == [
        (1, 400),
        (3, 400),
        (5, 400),
        (7, 400),
        (9, 400),
        (11, 1001),
    ]
    messages = [each.message for each in report.results.errors]
    places = ("entry.content", "entry.colour", "the entry", "entry.content", "262,144", "numbers")
    for message, place in zip(messages, places, strict=True):
        assert place in message


async def test_a_batch_ends_at_its_first_error_and_what_was_done_stays(sender: Sender) -> None:
    entries = [draft("One."), draft("Two."), {"entry": {}}, draft("Four.")]
    report = await sender.send(ANA, "create", entries)
    assert counts(report) == ("failed", 2, 1, 0)
    assert became(report) == ["created", "created", "failed", "waiting"]
    assert "The 1 entries after that were not tried" in (report.message or "")
    assert sorted(await sender.world.found(ANA, "one two four")) == ["One.", "Two."]
    kept = await sender.rows("memory_batch_entries", batch=report.operation_id)
    assert [each.request for each in kept] == [None] * 4


async def test_an_upsert_changes_what_is_there_and_makes_what_is_not(sender: Sender) -> None:
    kept = await sender.world.remember(ANA, "Open at nine.")
    entries = [
        {"id": kept.id, "entry": {"content": "Open at ten."}},
        {"id": "gate.hours", "entry": {"content": "The gate is open at noon."}},
        draft("Without an id."),
        {"id": "gate.hours", "entry": {"content": "The gate is open at one."}},
    ]
    report = await sender.send(ANA, "upsert", entries)
    assert became(report) == ["updated", "created", "created", "updated"]
    assert [report.entries[n].id for n in (0, 1, 3)] == [kept.id, "gate.hours", "gate.hours"]
    look = sender.world.memory.reader
    for id, content in ((kept.id, "Open at ten."), ("gate.hours", "The gate is open at one.")):
        entry = await look.entry(id, ANA)
        assert (entry.content, entry.version) == (content, 2)
    for mode in ("keyword", "semantic"):
        found = await sender.world.found(ANA, "gate open", mode=mode)
        assert "The gate is open at noon." not in found
        assert "The gate is open at one." in found


@pytest.mark.parametrize(
    "id", ["a/b", "note:x", "", "x" * 101, "sch\u00f6n", "a\nb", "entries", "batch", ".."]
)
async def test_an_upsert_makes_no_entry_under_an_id_that_is_none(sender: Sender, id: str) -> None:
    report = await sender.send(ANA, "upsert", [{"id": id, "entry": {"content": "x"}}])
    assert counts(report) == ("failed", 0, 1, 0)
    assert report.results.errors[0].code in (400, 403)
    assert await sender.rows("memory_entries") == []


async def test_an_id_of_somebody_else_or_of_a_removed_entry_is_taken_alike(sender: Sender) -> None:
    await sender.send(CY, "upsert", [{"id": "cys", "entry": {"content": "Of Cy."}}])
    await sender.send(ANA, "upsert", [{"id": "anas", "entry": {"content": "Of Ana."}}])
    assert counts(await sender.send(ANA, "delete", [{"id": "anas"}]))[1] == 1
    wanted = [{"id": id, "entry": {"content": "New."}} for id in ("cys", "anas")]
    report = await sender.send(ANA, "upsert", wanted, continue_on_error=True)
    (one, other) = report.results.errors
    assert one.code == other.code == ErrorCode.CONFLICT
    assert one.message == other.message
    assert await sender.world.found(CY, "of cy") == ["Of Cy."]


async def test_what_others_keep_is_changed_and_removed_by_nobody_else(sender: Sender) -> None:
    entry = await sender.world.remember(CY, "Of Cy.", "organization")
    hidden = await sender.world.remember(CY, "Hidden.")
    ids = (entry.id, hidden.id, "none")
    codes: dict[str, list[int]] = {}
    for operation in ("update", "delete"):
        changed: Mapping[str, Any] = {"entry": {"content": "x"}} if operation == "update" else {}
        entries = [{"id": id, **changed} for id in ids]
        report = await sender.send(ANA, operation, entries, continue_on_error=True)
        codes[operation] = [each.code for each in report.results.errors]
        assert report.results.errors[1].message == report.results.errors[2].message
    assert codes == {"update": [403, 404, 404], "delete": [403, 404, 404]}
    assert sorted(await sender.world.found(CY, "cy hidden")) == ["Hidden.", "Of Cy."]


@pytest.mark.parametrize("hard", [False, True])
async def test_many_entries_are_removed_with_all_that_was_kept_of_them(
    sender: Sender, hard: bool
) -> None:
    made = await sender.send(ANA, "create", [draft(f"Barrel {n}.") for n in range(30)])
    gone = [{"id": each.id, "options": {"hard_delete": hard}} for each in made.entries[:29]]
    report = await sender.send(ANA, "delete", gone)
    assert became(report) == ["deleted"] * 29
    for mode in ("keyword", "semantic"):
        assert await sender.world.found(ANA, "barrel", mode=mode) == ["Barrel 29."]
    assert len(await sender.rows("memory_entries")) == (1 if hard else 30)


async def test_a_batch_is_done_with_the_rights_of_who_sent_it_then(sender: Sender) -> None:
    access = {"policy": "shared", "allowed_teams": ["garden"]}
    entry = await sender.world.remember(ANA, "For gardeners.", access)
    changed = [{"id": entry.id, "entry": {"content": "For all gardeners."}}]
    assert counts(await sender.send(BEN, "update", changed))[1] == 1
    report = await sender.send(replace(BEN, groups=frozenset()), "update", changed)
    assert [each.code for each in report.results.errors] == [404]


async def test_what_waits_for_a_person_counts_as_succeeded_and_names_its_request(
    sender: Sender,
) -> None:
    """What is for all members waits as it does alone, and what is not does not."""
    entries = [draft("The shed is open."), draft("Mine.")]
    entries[0]["options"] = {"access_policy": {"policy": "organization"}}
    report = await sender.send(ANA, "create", entries)
    assert counts(report) == ("completed", 2, 0, 1)
    (waiting, _) = report.entries
    assert (waiting.status, waiting.request_id) == (
        "pending_approval",
        (await sender.world.memory.approvals.visible_to(CY))[0].id,
    )
    assert await sender.world.found(CY, "shed open", mode="keyword") == []
    await sender.world.memory.approvals.decide(waiting.request_id or "", CY, approve=True)
    found = await sender.world.found(CY, "shed open", mode="keyword")
    assert found == ["The shed is open."]
    assert (await sender.world.memory.reader.entry(waiting.id, CY)).owner == "person:ana"


async def test_an_upsert_that_waits_is_made_under_its_id_once_it_is_approved(
    sender: Sender,
) -> None:
    access = {"access_policy": {"policy": "organization"}}
    entry = {"id": "shed", **draft("Open."), "options": access, "governance": WAITS}
    report = await sender.send(ANA, "upsert", [entry])
    request = report.entries[0].request_id or ""
    assert (
        await sender.world.memory.approvals.decide(request, CY, approve=True)
    ).state == "approved"
    assert (await sender.world.memory.reader.entry("shed", CY)).content == "Open."


async def test_what_claims_the_same_in_one_batch_is_one_entry(sender: Sender) -> None:
    report = await sender.send(
        ANA, "create", [draft("Sameness."), draft("sameness. "), draft("Other.")]
    )
    assert counts(report)[1] == 3
    assert len(await sender.world.found(ANA, "sameness", mode="keyword")) == 1
    assert len({each.id for each in report.entries}) >= 2


async def test_working_memory_is_written_too(sender: Sender) -> None:
    options = {"options": {"layer": {"type": "working", "agent_id": "gardener"}}}
    report = await sender.send(ANA, "create", [draft(f"Note {n}.", **options) for n in range(3)])
    assert counts(report) == ("completed", 3, 0, 0)
    gone = await sender.send(ANA, "delete", [{"id": report.entries[1].id}])
    assert became(gone) == ["deleted"]
    asked = {"layer": {"types": ["working"]}, "mode": "keyword"}
    assert sorted(await sender.world.found(ANA, "note", **asked)) == ["Note 0.", "Note 2."]


async def test_a_batch_is_seen_by_who_sent_it_and_by_admins_alone(sender: Sender) -> None:
    id = await sender.submit(ANA, "create", [draft("Mine.")])
    told = []
    for who, which in ((CY, id), (CY, "batch_none"), (CY, "\0"), (Caller(None, CY.tier), id)):
        with pytest.raises(MemoryFailed) as refused:
            await sender.batches.report(which, who, 0, 10)
        told.append((refused.value.number, str(refused.value)))
    assert set(told) == {(ErrorCode.NOT_FOUND, told[0][1])}
    assert (await sender.batches.report(id, replace(CY, admin=True), 0, 10)).total == 1


async def test_what_was_written_is_listed_in_pages(sender: Sender) -> None:
    report = await sender.send(ANA, "create", [draft(f"Page {n}.") for n in range(7)])
    seen: list[int] = []
    offset: int | None = 0
    while offset is not None:
        page = await sender.batches.report(report.operation_id, ANA, offset, 3)
        seen += [each.index for each in page.entries]
        offset = page.next_offset
    assert seen == list(range(7))


@pytest.mark.parametrize(("entries", "kind"), [(["x"], "completed"), (["x", ""], "failed")])
async def test_who_wants_to_is_told_when_it_has_ended(
    sender: Sender, entries: list[str], kind: str
) -> None:
    wanted = [draft(each) for each in entries]
    await sender.send(ANA, "create", wanted)
    assert await sender.rows("memory_events", kind=f"batch_{kind}") == []
    report = await sender.send(ANA, "create", wanted, notify_on_completion=True)
    (notice,) = await sender.rows("memory_events", kind=f"batch_{kind}")
    assert notice.readers == [person_key("person:ana")]
    assert notice.body == {
        "operation_id": report.operation_id,
        "status": kind,
        "succeeded": 1,
        "failed": len(entries) - 1,
        "pending": 0,
    }


async def test_a_batch_that_is_too_large_says_so_and_writes_nothing(sender: Sender) -> None:
    entries = [draft("x")] * (MAX_BATCH_ENTRIES + 1)
    given = {"operation": "create", "entries": entries}
    with pytest.raises(MemoryFailed, match="10,001 entries; 10,000 is the limit") as refused:
        await sender.batches.submit(BatchRequest.model_validate(given), ANA)
    assert refused.value.number is ErrorCode.BATCH_FAILED
    assert await sender.rows("memory_batches") == []


@pytest.mark.heavy
@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_very_many_entries_with_one_bad_are_all_but_one_written(sender: Sender) -> None:
    options = {"options": {"layer": {"type": "working"}}}
    entries: list[Any] = [draft(f"n{n}", **options) for n in range(MANY)]
    entries[777] = {"entry": {"contents": "x"}}
    report = await sender.send(ANA, "create", entries, continue_on_error=True)
    assert counts(report) == ("completed", MANY - 1, 1, 0)
    (error,) = report.results.errors
    assert (error.index, error.code) == (777, 400)
    assert "entry.content" in error.message


async def test_nobody_has_more_than_so_many_batches_under_way(
    sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_OPEN_BATCHES", 2)
    first = await sender.submit(ANA, "create", [draft("One.")])
    await sender.submit(ANA, "create", [draft("Two.")])
    with pytest.raises(MemoryFailed, match="2 batches under way") as refused:
        await sender.submit(ANA, "create", [draft("Three.")])
    assert refused.value.number is ErrorCode.RATE_LIMITED
    await sender.submit(CY, "create", [draft("Of Cy.")])
    await sender.batches.work(first)
    await sender.submit(ANA, "create", [draft("Three.")])


@pytest.mark.parametrize(("operation", "role"), [("create", "write"), ("delete", "delete")])
async def test_who_may_not_write_sends_no_batch(
    open_world: Opener, operation: str, role: str
) -> None:
    sender = sender_on(await open_world(roles=Roles.model_validate({role: ["members"]})))
    for who, code in ((DEE, ErrorCode.FORBIDDEN), (Caller(None, DEE.tier), ErrorCode.UNAUTHORIZED)):
        with pytest.raises(MemoryFailed) as refused:
            await sender.submit(who, operation, [{"id": "x"}])
        assert refused.value.number is code
    assert sender.queue.batches == []


async def test_old_batches_are_forgotten_and_what_they_wrote_stays(sender: Sender) -> None:
    old = await sender.send(ANA, "create", [draft("Kept.")])
    moment = sender.world.clock()
    new = await sender.send(ANA, "create", [draft("Later.")])
    assert await sender.batches.purge(moment) == 1
    assert [each.id for each in await sender.rows("memory_batches")] == [new.operation_id]
    left = {each.batch for each in await sender.rows("memory_batch_entries")}
    assert left == {new.operation_id}
    assert old.operation_id not in left
    assert await sender.world.found(ANA, "kept", mode="keyword") == ["Kept."]


async def test_a_batch_whose_job_was_lost_is_queued_again(sender: Sender) -> None:
    sent = sender.world.clock()
    lost = await sender.submit(ANA, "create", [draft("Lost.")])
    assert await sender.batches.look_after(sent) == 0
    assert sender.queue.batches == [lost]
    await sender.batches.look_after(sent)
    assert sender.queue.batches == [lost, f"{lost}/0"]
    await sender.batches.work(lost)
    await sender.batches.look_after(sent)
    assert len(sender.queue.batches) == 2
    assert await sender.batches.look_after(sender.world.clock()) == 1


async def test_a_batch_leaves_with_who_sent_it(sender: Sender) -> None:
    id = await sender.submit(BEN, "create", [draft("Not yet written.")])
    leaving = sender.world.memory.personal_data
    assert "person:ben" in await leaving.people()
    files = [file async for file in leaving.export("person:ben")]
    assert any(b"Not yet written." in file.data for file in files)
    await leaving.erase("person:ben")
    assert "person:ben" not in await leaving.people()
    assert await sender.batches.work(id) == "gone"
    assert await sender.rows("memory_entries") == []
