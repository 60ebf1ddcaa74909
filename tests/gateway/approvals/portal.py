"""A portal with a vault whose tools wait for a yes, and those who ask and say it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from auth.stores import Person
from gateway.approvals.counting import Voter
from gateway.cli.mcp_client import McpClient
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.approvals.vault import Vault

TIERS = """
access:
  members: signed_in
  admins: {email: boss@example.org}
items:
  vault: open
  vault/pay: {tier: members, approve: {by: signed_in, quorum: QUORUM, expires: 1h}}
  vault/confirm: {tier: members, approve: {by: caller}}
  vault/settle: {tier: members, approve: {by: caller}}
  vault/audit: {tier: members, approve: {by: caller}}
"""
PAYMENT = {"to": "the gardener", "amount": 30}
FORMS: dict[str, Any] = {"elicitation": {}}


class Treasury:
    """The portal, its vault and its people.

    Attributes:
        portal: the portal.
        vault: counts what was paid.
        people: who is signed in, by name.
    """

    def __init__(self, portal: TestPortal, vault: Vault, people: Mapping[str, Person]) -> None:
        self.portal, self.vault, self.people = portal, vault, people

    @property
    def paid(self) -> int:
        """How often anything was paid."""
        return len(self.vault.paid)

    async def call(
        self, who: str = "ann", tool: str = "pay", arguments: Mapping[str, Any] = PAYMENT
    ) -> tuple[str, dict[str, Any]]:
        """Call: the code of what went wrong, or ``ran``; and what the answer says beside."""
        answer = await self.portal.call(tool, arguments, tier=who)
        if not answer.is_error:
            return "ran", answer.structured
        texts = [block["text"] for block in answer.content]
        told = next(each for each in texts if each.startswith('{"error"'))
        error = json.loads(told)["error"]
        return error["code"], error["details"]

    async def asked(self, who: str = "ann", **more: Any) -> str:
        """Call what waits; the id of the approval."""
        code, details = await self.call(who, **more)
        assert code == "approval_needed", code
        return str(details["approval"])

    async def say(self, who: str, id: str, *, yes: bool = True, note: str = "") -> str:
        """Have somebody decide; what has become of the request."""
        person = self.people[who]
        accounts = tuple(each.subject for each in person.accounts)
        store = self.portal.running.approvals.store
        return (await store.decide(id, Voter(person.id, accounts), yes=yes, note=note)).state

    def client(self, who: str = "ann", **capabilities: Any) -> McpClient:
        """A client of 2026-07-28."""
        return McpClient(self.portal.http(who), capabilities=capabilities)


@asynccontextmanager
async def open_treasury(quorum: int = 1, **options: Any) -> AsyncGenerator[Treasury]:
    """Open it."""
    vault = Vault()
    tiers = TIERS.replace("QUORUM", str(quorum))
    async with open_test_portal(vault.module(), tiers=tiers, **options) as portal:
        people = {name: await portal.sign_in(name) for name in ("ann", "bob", "cy")}
        yield Treasury(portal, vault, people)
