"""``/admin/payments``: for `porch payments list` and `porch payments reconcile`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from auth.facts import SourceUnavailable
from gateway.config.money import exact
from gateway.contract import ToolFailed
from gateway.errors import PortalError
from gateway.surfaces.http.request_context import context_of

if TYPE_CHECKING:
    from gateway.payments.payments import Payments

MOST_LISTED = 1_000
"""Payments of each way that one look shows: the newest."""


class NotPaid(PortalError):
    """What is asked about payments cannot be answered."""

    code = "no_payments"
    status = 422


@dataclass(frozen=True, slots=True)
class PaymentAdmin:
    """Answers about payments.

    Attributes:
        payments: how people pay; None where portal.yaml names no way.
    """

    payments: Payments | None

    async def listed(self, request: Request) -> Any:
        """Answer ``GET /admin/payments``: what was paid, and what waits or is paid monthly."""
        payments = self._there()
        found: dict[str, Sequence[Any]] = {"payments": [], "subscriptions": [], "unfinished": []}
        if payments.stripe is not None:
            top_ups = await payments.stripe.top_ups.of(most=MOST_LISTED)
            found["payments"] = [_paid(each) for each in top_ups]
            found["subscriptions"] = [
                _told(each) for each in await payments.stripe.subscriptions.of()
            ]
            found["unfinished"] = [id for id, _ in await payments.stripe.events.unfinished()]
        if payments.chain is not None:
            transfers = await payments.chain.of(most=MOST_LISTED)
            found["payments"] = [*found["payments"], *map(_transferred, transfers)]
        return found

    async def reconciled(self, request: Request) -> Any:
        """Answer ``POST /admin/payments``: hold everything against Stripe and the chain now.

        Only the portal's own machine may ask: a browser's session must not be made to.
        """
        if not context_of(request.scope).local:
            raise NotPaid("Say that on the portal's own machine: porch payments reconcile.")
        from gateway.payments.reconciliation import reconcile

        try:
            return {"differences": [asdict(each) for each in await reconcile(self._there())]}
        except (SourceUnavailable, ToolFailed) as error:
            raise NotPaid(f"It is not known now how it is there: {error}") from None

    def _there(self) -> Payments:
        if self.payments is None:
            raise NotPaid("Nothing can be paid here: portal.yaml has no section payments.")
        return self.payments


NOTHING_PAID = PaymentAdmin(None)
"""Answers where nothing can be paid."""


def _paid(found: Any) -> dict[str, Any]:
    return {
        "id": found.id,
        "at": found.at.isoformat(),
        "account": found.account,
        "person": found.person,
        "how": "card",
        "usd": exact(found.paid),
        "refunded_usd": exact(found.refunded),
        "taken_back_usd": exact(found.taken_back),
        "state": "refunded" if found.refunded else "credited",
    }


def _transferred(found: Any) -> dict[str, Any]:
    return {
        "id": found.id,
        "at": found.seen.isoformat(),
        "account": found.account,
        "person": found.person,
        "how": f"token, by {found.wallet or 'somebody who has left'}",
        "usd": exact(found.worth),
        "refunded_usd": "0",
        "taken_back_usd": "0",
        "state": "waits for its wallet" if found.credited is None else "credited",
    }


def _told(found: Any) -> dict[str, Any]:
    names = ("id", "account", "person", "plan", "seats", "status")
    ends = None if found.ends is None else found.ends.isoformat()
    return {name: getattr(found, name) for name in names} | {"ends": ends}
