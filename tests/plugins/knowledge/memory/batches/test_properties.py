"""A batch leaves behind what the same operations leave when they are sent one by one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.contract import Caller
from plugins.knowledge.memory.batches import chunks
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from tests.examples import examples
from tests.plugins.knowledge.memory.batches.conftest import Sender
from tests.plugins.knowledge.memory.conftest import ANA

pytestmark = pytest.mark.anyio
contents = st.sampled_from(["Beans.", "beans. ", "Peas.", "Leeks.", "a\0b", ""])
layers = st.sampled_from(["semantic", "episodic", "working", "attic"])
metadata = st.fixed_dictionaries(
    {}, optional={"confidence": st.sampled_from([0.2, 0.9]), "tags": st.just(["a"])}
)
entry = st.fixed_dictionaries({"content": contents, "metadata": metadata})
governance = st.sampled_from([{}, {}, {"require_approval": True}])
drafts = st.fixed_dictionaries(
    {"entry": entry, "governance": governance},
    optional={"options": st.fixed_dictionaries({"layer": layers.map(lambda name: {"type": name})})},
)
targets = st.integers(0, 6)
"""Which of the entries that were made before; the last ones are not there."""
changes = st.fixed_dictionaries(
    {"id": targets, "entry": entry}, optional={"governance": governance}
)
removals = st.fixed_dictionaries(
    {"id": targets}, optional={"options": st.fixed_dictionaries({"hard_delete": st.booleans()})}
)
upserts = st.fixed_dictionaries(
    {"id": st.sampled_from(["own-a", "own-b", "o/n", 0, 1, None]), "entry": entry}
)
some = {"create": drafts, "update": changes, "delete": removals, "upsert": upserts}
sent = st.sampled_from(sorted(some)).flatmap(
    lambda name: st.tuples(st.just(name), st.lists(some[name], min_size=1, max_size=7))
)
people = itertools.count()


def named(operation: str, one: Mapping[str, Any], ids: Sequence[str], who: Caller) -> Any:
    """A generated entry, with the ids that it means here."""
    told, own = dict(one), (who.person or "").removeprefix("person:")
    if isinstance(told.get("id"), int):
        told["id"] = ids[told["id"]] if told["id"] < len(ids) else f"none-{own}"
    elif operation == "upsert" and str(told.get("id")).startswith("own-"):
        told["id"] = f"{told['id']}-{own}"
    elif told.get("id", "") is None:
        del told["id"]
    return told


async def singly(sender: Sender, operation: str, given: Any, who: Caller) -> tuple[str, str]:
    """Do one entry by the single operation; the entry's id, and what became of it."""
    governed = sender.world.memory.governed
    if operation == "create":
        made = await governed.create(CreateRequest.model_validate(given), who)
        return made.entry.id, made.status
    if operation == "delete":
        gone = await governed.delete(DeleteRequest.model_validate(given), who)
        return gone.entry_id, "deleted"
    request = UpdateRequest.model_validate(given)
    if operation == "upsert" and not await there(sender, request.id, who):
        if "/" in (request.id or ""):
            raise MemoryFailed(ErrorCode.INVALID_REQUEST, "no id")
        plain = {name: value for name, value in given.items() if name != "id"}
        made = await governed.create(CreateRequest.model_validate(plain), who, id=request.id)
        return made.entry.id, made.status
    made = await governed.update(request.id or "", request, who)
    return made.entry.id, made.status


async def there(sender: Sender, id: str | None, who: Caller) -> bool:
    try:
        await sender.world.memory.entries.found(id or "", who)
    except MemoryFailed:
        return False
    return True


async def one_by_one(
    sender: Sender, operation: str, entries: Sequence[Any], who: Caller, *, goes_on: bool
) -> list[tuple[str, str]]:
    """Send the entries of a batch one by one; what became of each."""
    became = []
    for each in entries:
        try:
            became.append(await singly(sender, operation, each, who))
        except ValidationError:
            became.append(("", "failed 400"))
        except MemoryFailed as error:
            became.append(("", f"failed {int(error.number)}"))
        if became[-1][1].startswith("failed") and not goes_on:
            break
    return became


async def as_batch(
    sender: Sender, operation: str, entries: Sequence[Any], who: Caller, *, goes_on: bool
) -> list[tuple[str, str]]:
    report = await sender.send(who, operation, entries, continue_on_error=goes_on)
    codes = {each.index: each.code for each in report.results.errors}
    return [
        ("", f"failed {codes[each.index]}") if each.index in codes else (each.id, each.status)
        for each in report.entries
        if each.status != "waiting"
    ]


async def state(sender: Sender, who: Caller) -> Any:
    """All that there is of a person, without ids and times."""
    rows = await sender.rows("memory_entries", owner=who.person)
    numbers = {row.id: place for place, row in enumerate(rows)}
    pad = sender.world.memory.entries.working.everything()
    versions = await sender.rows("memory_versions", by=who.person)
    events = await sender.rows("memory_events")
    waits = await sender.rows("memory_approvals", requested_by=who.person)
    audit_records = await sender.rows("memory_audit", person=who.person)
    return {
        "entries": [
            (r.layer, r.content, r.metadata, r.version, r.deleted is None, r.embedded) for r in rows
        ],
        "working": [(r.content, r.version) for r in pad if r.owner == who.person],
        "versions": sorted((numbers[r.entry], r.version, str(r.fields)) for r in versions),
        "events": [(r.kind, numbers[r.entry], bool(r.body)) for r in events if r.entry in numbers],
        "waits": [(r.operation, r.state) for r in waits],
        "deeds": [(r.operation, r.outcome) for r in audit_records],
    }


@settings(
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(batches=st.lists(st.tuples(sent, st.booleans()), min_size=1, max_size=3))
async def test_the_state_is_the_same(sender: Sender, batches: Any) -> None:
    number = next(people)
    callers = [replace(ANA, person=f"person:{number}-{which}") for which in "ab"]
    ends = []
    for who, send in zip(callers, (one_by_one, as_batch), strict=True):
        ids: list[str] = []
        became: list[Any] = []
        for (operation, entries), goes_on in batches:
            wanted = [named(operation, each, ids, who) for each in entries]
            told = await send(sender, operation, wanted, who, goes_on=goes_on)
            made = [id for id, status in told if status == "created"]
            ids += [id for id in made if id not in ids]
            became.append([status for _, status in told])
        ends.append((became, await state(sender, who)))
    ((singly_became, singly_state), (batch_became, batch_state)) = ends
    assert batch_became == singly_became
    for name in singly_state:
        assert batch_state[name] == singly_state[name], name


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some batches take several transactions."""
    monkeypatch.setattr(chunks, "CHUNK_SIZE", 3)
