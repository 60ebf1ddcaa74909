"""``porch approvals`` shows what waits for a yes, and says the operator's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from gateway.approvals.counting import Voter
from gateway.approvals.request import ApprovalRequest, BoundCall
from gateway.approvals.store import ApprovalStore, Question
from gateway.cli.options import EXIT
from gateway.observability.audit import MIGRATIONS, AuditLog
from gateway.services.database.service import open_database
from tests.gateway.cli.conftest import Run

CALL = BoundCall("person:ann", "vault/pay", "digest", "rule")
ARGUMENTS = {"to": "ann\u202enotna", "amount": 30}

T = TypeVar("T")


def kept(place: Path, act: Callable[[ApprovalStore, AuditLog], Awaitable[T]]) -> T:
    """Do something with the requests of the portal in a place."""

    async def run() -> T:
        service = open_database("sqlite", place / "data")
        database = service.for_owner("gateway")
        await database.migrate(MIGRATIONS)
        try:
            return await act(ApprovalStore(database), AuditLog(database))
        finally:
            await service.close()

    return asyncio.run(run())


def asking(quorum: int) -> Callable[[ApprovalStore, AuditLog], Awaitable[str]]:
    async def ask(store: ApprovalStore, log: AuditLog) -> str:
        until = store.clock() + timedelta(hours=1)
        question = Question(
            "pay", ARGUMENTS, "an admin", quorum, False, False, until, "members", "mcp"
        )
        return (await store.ask(CALL, question)).id

    return ask


@pytest.fixture
def id(place: Path) -> str:
    """The id of a request that waits for two people."""
    return kept(place, asking(2))


def now(place: Path, id: str) -> ApprovalRequest:
    async def get(store: ApprovalStore, log: AuditLog) -> ApprovalRequest:
        found = await store.get(id)
        assert found is not None
        return found

    return kept(place, get)


def test_what_waits_is_listed(porch: Run, id: str) -> None:
    listed = porch("approvals", "list").output
    assert id in listed
    assert "0 of 2" in listed
    (told,) = json.loads(porch("approvals", "list", "--json").output)
    assert (told["id"], told["arguments"]) == (id, ARGUMENTS)


def test_nothing_that_waits_is_said_so(porch: Run) -> None:
    assert porch("approvals", "list").output == "Nothing waits for a yes.\n"


def test_a_request_is_shown_whole_and_nothing_in_it_is_hidden(porch: Run, id: str) -> None:
    shown = porch("approvals", "show", id).output
    assert '"to": "ann[U+202E]notna"' in shown
    assert "an admin; 0 of 2 said yes" in shown


def test_the_operator_is_one_person_of_a_quorum(porch: Run, place: Path, id: str) -> None:
    assert "It takes 1 more" in porch("approvals", "approve", id, "--yes").output
    again = porch("approvals", "approve", id, "--yes")
    assert again.exit_code == EXIT.PROBLEM
    assert "said yes already" in again.output
    assert now(place, id).state == "waiting"

    async def second(store: ApprovalStore, log: AuditLog) -> list[tuple[str | None, str, str]]:
        await store.decide(id, Voter("person:bob"), yes=True)
        return [(each.person, each.surface, each.outcome) for each in await log.read()]

    records = kept(place, second)
    assert ("operator", "cli", "yes") in records
    assert now(place, id).state == "approved"


def test_arguments_are_shown_before_the_yes_and_who_does_not_give_it_changes_nothing(
    porch: Run, place: Path, id: str
) -> None:
    asked = porch("approvals", "approve", id)  # nobody answers
    assert '"amount": 30' in asked.output
    assert asked.exit_code == EXIT.PROBLEM
    assert now(place, id).votes == ()


def test_a_refusal_says_why(porch: Run, place: Path, id: str) -> None:
    assert "will not run" in porch("approvals", "refuse", id, "--note", "On Monday.").output
    found = now(place, id)
    assert (found.state, found.note, found.arguments) == ("refused", "On Monday.", None)
    assert id not in porch("approvals", "list").output
    assert id in porch("approvals", "list", "--all").output


def test_a_request_that_is_not_there_is_said_so(porch: Run, id: str) -> None:
    for command in (("show",), ("approve", "--yes"), ("refuse",)):
        told = porch("approvals", command[0], "ap_other", *command[1:])
        assert told.exit_code == EXIT.PROBLEM
        assert "There is no such request" in told.output or "There is no request" in told.output
