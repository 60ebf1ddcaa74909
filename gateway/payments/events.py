"""Events that Stripe sends: checked, noted, and taken as a word of what to look at."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from auth.stores import utc_now
from gateway.contract import ToolFailed
from gateway.identity.stores.connection import Reached
from gateway.observability.logs import get_logger
from gateway.payments.customers import Customers
from gateway.payments.stripe_api import StripeApi, StripeFailed, is_signed
from gateway.payments.tables import events
from gateway.toolkit.sql import insert_into

if TYPE_CHECKING:
    from gateway.contract.services import Database
    from gateway.payments.subscriptions import Subscriptions
    from gateway.payments.top_ups import TopUps

SIGNATURE = "stripe-signature"
_AT_ONCE = 200

log = get_logger(__name__)


class Events:
    """Takes events.

    Args:
        database: where they are noted.
        api: Stripe.
        secrets: gives what signs them; asked each time, so that a new one counts at once.
        top_ups: follows payments.
        subscriptions: follows subscriptions.
        customers: closes the pages that were used up.

    Attributes:
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        database: Database,
        api: StripeApi,
        secrets: Callable[[], tuple[str, ...]],
        top_ups: TopUps,
        subscriptions: Subscriptions,
        customers: Customers,
    ) -> None:
        self._database, self._api, self._secrets = Reached(database), api, secrets
        self._top_ups, self._subscriptions, self._customers = top_ups, subscriptions, customers
        self.clock: Callable[[], datetime] = utc_now

    def verify(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether Stripe has signed a delivery, with a secret that counts and not long ago."""
        return is_signed(body, headers.get(SIGNATURE, ""), self._secrets())

    async def run(self, body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        """Take an event; Stripe sends it again until it is answered with this.

        Raises:
            ToolFailed: it is none, or what it is about cannot be looked at now.
        """
        try:
            event = json.loads(body)
            id, kind, subject = str(event["id"]), str(event["type"]), event["data"]["object"]
            created = datetime.fromtimestamp(int(event["created"]), UTC)
            about = str(subject.get("id", ""))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise ToolFailed("bad_event", "The body is no event of Stripe's.") from None
        row = {"id": id, "type": kind, "subject": about, "created": created}
        if not await self._is_new(row):
            return {"received": True, "again": True}
        await self._look(kind, subject)
        await self._done(id)
        return {"received": True}

    async def unfinished(self) -> Sequence[tuple[str, str]]:
        """The events that came and were not dealt with, as id and type, the oldest first."""
        query = (
            select(events.c.id, events.c.type)
            .where(events.c.done.is_(None))
            .order_by(events.c.received)
            .limit(_AT_ONCE)
        )
        async with self._database.connect() as connection:
            return [(row.id, row.type) for row in await connection.execute(query)]

    async def finish(self) -> int:
        """Deal with what came and was not dealt with, as Stripe still has it; returns how many."""
        found = await self.unfinished()
        for id, kind in found:
            event = await self._api.event(id)
            if event is not None:
                await self._look(kind, event["data"]["object"])
            await self._done(id)
        return len(found)

    async def _is_new(self, row: Mapping[str, Any]) -> bool:
        """Note an event; whether it was not dealt with before."""
        async with self._database.begin() as connection:
            values = {**row, "received": self.clock()}
            new = insert_into(connection, events).values(values)
            await connection.execute(new.on_conflict_do_nothing())
            done = await connection.scalar(select(events.c.done).where(events.c.id == row["id"]))
            return done is None

    async def _done(self, id: str) -> None:
        async with self._database.begin() as connection:
            await connection.execute(
                update(events).where(events.c.id == id).values(done=self.clock())
            )

    async def _look(self, kind: str, subject: Mapping[str, Any]) -> None:
        """Look at what an event is about; its own word of it may be old."""
        try:
            await self._followed(kind, subject)
        except StripeFailed as failed:
            if not failed.is_missing:
                raise
            # Of another account or mode of Stripe's, by a wrong pair of secrets.
            log.warning("payment_event_about_nothing", type=kind, subject=subject.get("id"))

    async def _followed(self, kind: str, subject: Mapping[str, Any]) -> None:
        if kind.startswith("checkout.session."):
            await self._checkout(kind, subject)
        elif kind.startswith(("charge.", "refund.")):
            await self._payment(subject.get("payment_intent"))
        elif kind.startswith("payment_intent."):
            await self._payment(subject.get("id"))
        elif kind.startswith("customer.subscription."):
            await self._subscription(subject.get("id"))
        elif kind.startswith("invoice."):
            parent = subject.get("parent") or {}
            details = parent.get("subscription_details") or {}
            await self._subscription(details.get("subscription") or subject.get("subscription"))

    async def _checkout(self, kind: str, subject: Mapping[str, Any]) -> None:
        await self._payment(subject.get("payment_intent"))
        await self._subscription(subject.get("subscription"))
        if kind.endswith((".completed", ".expired")):
            await self._customers.close(str(subject.get("id", "")))

    async def _payment(self, found: Any) -> None:
        if id := _id(found):
            await self._top_ups.follow(id)

    async def _subscription(self, found: Any) -> None:
        if id := _id(found):
            await self._subscriptions.follow(id)


def _id(found: Any) -> str:
    """An object's id, where it stands alone or expanded."""
    if isinstance(found, Mapping):
        found = found.get("id")
    return found if isinstance(found, str) else ""
