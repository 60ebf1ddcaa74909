"""The requests that wait for a person, and their decisions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import AliasChoices, BaseModel, Field
from sqlalchemy import ColumnElement
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from plugins.knowledge.memory.model.policy import AccessPolicyConfig
from plugins.knowledge.memory.model.requests import RelationDraft
from plugins.knowledge.memory.model.responses import ApprovalRequired
from plugins.knowledge.memory.rights.delegation import DelegatedRights
from plugins.knowledge.memory.store.tables import approvals

State = Literal["pending", "approved", "rejected", "failed"]
Operation = Literal["create", "update", "delete", "erase", "verify", "relate"]
MAX_LISTED = 1000
"""Requests of one list: a person's own, and those of others."""


class ApprovalPayload(BaseModel):
    """What is needed to carry out a request once it is approved, as it is stored.

    Attributes:
        readers: the keys that may read the entry once this is done.
        opens: whether an update lets more people read the entry than may now.
        version: the version of the entry that was asked about; 0 of a new entry.
        access: of a verification, the access policy that the entry gets.
        request: of a creation and an update, the request as the client sent it; of a verification
            the content alone, for those who decide; of a relation that alone. Nothing in it says
            what another entry says: who looks is shown that as it is then, as far as they may.
        asker: the rights that the person who asked had then.
    """

    readers: list[str]
    opens: bool = False
    version: int = 0
    access: AccessPolicyConfig | None = None
    request: dict[str, Any] = Field(default_factory=dict)
    asker: DelegatedRights = Field(
        validation_alias=AliasChoices("asker", "as"), serialization_alias="as"
    )

    @property
    def target(self) -> str | None:
        """The id of the earlier entry that a decision between two kept ones is about."""
        target: str | None = self.request.get("relation", {}).get("target")
        return target

    def relations(self) -> list[RelationDraft]:
        """How the entry goes together with earlier ones once this is done, as it was sent."""
        said = self.request.get("relation")
        every = [said] if said else self.request.get("entry", {}).get("relations", [])
        return [RelationDraft.model_validate(each) for each in every]

    def asks_the_same(self, other: ApprovalPayload) -> bool:
        """Whether two requests ask for the same, with whatever rights."""
        return self.model_copy(update={"asker": other.asker}) == other

    def stored(self) -> dict[str, Any]:
        """The JSON values that are stored: those that were given."""
        return self.model_dump(mode="json", by_alias=True, include=self.model_fields_set)


@dataclass(frozen=True, slots=True)
class Approval:
    """A request.

    Attributes:
        id: the request's.
        operation: what is to be done.
        entry: the id of the entry; of one that is to be created, the id that it will have.
        payload: what it takes to do it; None once it is decided.
        reason: why, in the words of who asks.
        requested_by: the person who asks.
        requested_at: when.
        state: what became of it; ``failed`` where it was approved and could not be done.
        decided_by: the person who decided.
        decided_at: when.
        note: what they said to it.
    """

    id: str
    operation: Operation
    entry: str
    payload: ApprovalPayload | None
    reason: str | None
    requested_by: str
    requested_at: datetime
    state: State = "pending"
    decided_by: str | None = None
    decided_at: datetime | None = None
    note: str | None = None

    def required(self) -> ApprovalRequired:
        """What is answered to who asks, while it waits."""
        return ApprovalRequired(
            request_id=self.id, requested_by=self.requested_by, requested_at=self.requested_at
        )


def new_approval_id() -> str:
    """An id that nobody can guess."""
    return f"appr_{secrets.token_hex(12)}"


class ApprovalStore:
    """The requests.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def add(self, approval: Approval) -> None:
        """Keep a new request."""
        row = {column.name: getattr(approval, column.name) for column in approvals.c}
        row["payload"] = approval.payload and approval.payload.stored()
        async with self._database.begin() as connection:
            await connection.execute(sa.insert(approvals), [row])

    async def get(self, id: str) -> Approval | None:
        """A request by its id."""
        if not (id.isascii() and id.isprintable()):  # not every database takes it
            return None
        found = await self._found(approvals.c.id == id)
        return found[0] if found else None

    async def of_others(self, person: str, keys: frozenset[str]) -> list[Approval]:
        """What others asked for and nobody has decided, the newest first.

        Args:
            person: whose own are left out.
            keys: of which the entry has to name one once that is done.
        """
        text = approvals.c.payload.cast(sa.Text)
        named = [text.contains(json.dumps(key), autoescape=True) for key in sorted(keys)]
        waits = (approvals.c.state == "pending", approvals.c.requested_by != person)
        found = await self._found(*waits, sa.or_(sa.false(), *named))
        return [each for each in found if each.payload and keys.intersection(each.payload.readers)]

    async def of(self, person: str, state: State | None = None) -> list[Approval]:
        """A person's own requests: those that wait first, then the last decided.

        Args:
            person: who asked.
            state: of which state; of any where none is given.
        """
        of_state = () if state is None else (approvals.c.state == state,)
        return await self._found(approvals.c.requested_by == person, *of_state)

    async def decide(self, id: str, state: State, by: str, note: str | None) -> bool:
        """Write down a decision; false where the request was decided before."""
        async with self._database.begin() as connection:
            return await self.decide_in(connection, id, state, by, note)

    async def decide_in(
        self, connection: AsyncConnection, id: str, state: State, by: str, note: str | None
    ) -> bool:
        """The same, in the transaction that carries it out."""
        number = await connection.scalar(
            sa.update(approvals)
            .where(approvals.c.id == id, approvals.c.state == "pending")
            .values(
                state=state, decided_by=by, decided_at=self._clock(), note=note, payload=sa.null()
            )
            .returning(approvals.c.id)
        )
        return number is not None

    async def stands(self, id: str, entry: str) -> None:
        """Write down which entry stands for what was asked for: it was there already."""
        named = sa.update(approvals).where(approvals.c.id == id)
        async with self._database.begin() as connection:
            await connection.execute(named.values(entry=entry))

    async def _found(self, *which: ColumnElement[bool]) -> list[Approval]:
        waits_first = sa.case((approvals.c.state == "pending", 0), else_=1)
        order = (waits_first, approvals.c.requested_at.desc(), approvals.c.id)
        chosen = sa.select(approvals).where(*which).order_by(*order).limit(MAX_LISTED)
        async with self._database.read() as connection:
            return [approval_of(row._asdict()) for row in await connection.execute(chosen)]


def approval_of(row: Mapping[str, Any]) -> Approval:
    """A request as its row says it."""
    payload = row["payload"]
    typed = None if payload is None else ApprovalPayload.model_validate(payload)
    return Approval(**{**row, "payload": typed})
