"""Work for agents: what a plugin has the models of members do that the portal itself has not.

A plugin declares kinds of work (:class:`Work`) in its ``Offer``, and publishes items through
``Host.work``. Members' agents take them by the portal's tool ``take_work`` and bring answers by
``return_work``. The guide is ``docs/plugin-authors/work.md``. Plugins reach these names through
:mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel

from auth import Caller, Tier

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

LEASE_SECONDS = 900.0
"""Seconds for which an item is somebody's, unless its kind says otherwise."""
MAX_CONTEXT_BYTES = 64 * 1024
"""Bytes of JSON that an item's context may have."""
MAX_ANSWER_BYTES = 32 * 1024
"""Bytes of JSON that an answer may have, unless its kind says otherwise."""

WorkState = Literal["open", "answered", "accepted", "unsettled"]
"""``open`` is offered to agents, ``answered`` waits for ``Work.accept``, ``accepted`` has passed
it, ``unsettled`` has answers that do not agree, or that were refused too often."""


@dataclass(frozen=True, slots=True)
class WorkSource:
    """Who answered, and by which model.

    Attributes:
        person: the person's id; empty once their account is erased.
        client: what their client calls itself; it is a claim, and may be empty.
        model: the model as the agent states it; a claim as well.
        at: when.
    """

    person: str
    client: str
    model: str
    at: datetime


@dataclass(frozen=True, slots=True)
class WorkAnswer:
    """An answer that fits its kind's schema.

    Attributes:
        id: the answer's, the same at every try.
        key: the item's, as it was published.
        context: the item's, as it was published.
        value: an instance of ``Work.schema``.
        source: who answered.
        once: ``await once(connection)`` is true the first time, and never again after the
            transaction of that connection has been committed. Ask it first in the transaction in
            which :attr:`Work.accept` writes, and write nothing where it is false.
    """

    id: str
    key: str
    context: Mapping[str, Any]
    value: Any
    source: WorkSource
    once: Callable[[AsyncConnection], Awaitable[bool]]


def equal(some: Any, other: Any) -> bool:
    """Whether two answers are the same."""
    return bool(some == other)


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work.

    Attributes:
        name: small letters, digits and ``_``; agents see it as ``<plugin>/<name>``.
        title: a display name.
        task: what an agent is to do with an item, and how its answer should be. Everything that
            the agent should obey stands here: an item's context is data.
        schema: the model of an answer. What it refuses is told to the agent field by field.
        accept: ``await accept(answer)`` puts an answer to use. It runs in a durable job after a
            crash too, so it may be called again for an answer (:attr:`WorkAnswer.once`). A
            ``ToolFailed`` refuses the answer, and the item is offered again.
        check: ``await check(value, context)``, asked while the agent waits; raises ``ToolFailed``
            with what to mend, and the item stays the agent's. For what a schema cannot say, such
            as that a quotation stands in the context. None where the schema says it all.
        tier: the tier from which people may do work of this kind.
        opinions: how many different people have to agree.
        agree: ``agree(value, value)``; whether two answers say the same.
        settle: ``await settle(answers)``, asked where one answer more than ``opinions`` has not
            brought agreement: the one of them that counts, or None.
        may_read: ``await may_read(key, caller)``; whether a caller may see an item, beyond the
            tier and the rows that it was published with.
        lease_seconds: how long an item is the one's who took it.
        max_answer_bytes: how much JSON an answer may be.
    """

    name: str
    title: str
    task: str
    schema: type[BaseModel]
    accept: Callable[[WorkAnswer], Awaitable[None]]
    check: Callable[[Any, Mapping[str, Any]], Awaitable[None]] | None = None
    tier: Tier = Tier.MEMBERS
    opinions: int = 1
    agree: Callable[[Any, Any], bool] = equal
    settle: Callable[[Sequence[WorkAnswer]], Awaitable[WorkAnswer | None]] | None = None
    may_read: Callable[[str, Caller], Awaitable[bool]] | None = None
    lease_seconds: float = LEASE_SECONDS
    max_answer_bytes: int = MAX_ANSWER_BYTES


class Works(Protocol):
    """The plugin's items of work for agents. All of it may be done before ``open`` yields."""

    async def publish(
        self,
        kind: str,
        key: str,
        context: Mapping[str, Any],
        *,
        tier: Tier,
        rows: Sequence[str] = (),
    ) -> WorkState:
        """Have an item done; again with the same context it is the same item, whatever its state.

        With another context it replaces the item, and answers to the one before are refused.

        Args:
            kind: the name of a :class:`Work` of this plugin.
            key: what the item is about, once in its kind, such as a row's name.
            context: JSON values that an agent needs, without what it may not see; secrets are
                taken out.
            tier: the tier from which people may see the context.
            rows: rows that the context shows, as ``kind:name``; the lines of ``tiers.yaml`` about
                them hold here too.

        Raises:
            ValueError: the context is no JSON or larger than 64 KiB, or the key is none.
        """
        ...

    async def withdraw(self, kind: str, key: str) -> bool:
        """Have an item not done any more; answers that come later are refused.

        Returns:
            Whether there was one.
        """
        ...

    async def states(self, kind: str) -> Mapping[str, WorkState]:
        """The items of a kind that were published and not withdrawn, by key."""
        ...


class NoWorks:
    """The work of a plugin that runs where none can be published, such as in another process."""

    async def publish(
        self,
        kind: str,
        key: str,
        context: Mapping[str, Any],
        *,
        tier: Tier,
        rows: Sequence[str] = (),
    ) -> WorkState:
        """Refuse."""
        raise RuntimeError("Work for agents is published in the portal's own process alone.")

    async def withdraw(self, kind: str, key: str) -> bool:
        """There is none."""
        return False

    async def states(self, kind: str) -> Mapping[str, WorkState]:
        """There is none."""
        return {}
