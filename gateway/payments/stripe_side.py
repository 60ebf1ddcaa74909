"""What is paid through Stripe, as the portal holds it together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.budgets.budgets import Budgets
from gateway.config.payments import StripeSettings
from gateway.payments.customers import Customers
from gateway.payments.desk import Desk
from gateway.payments.events import Events
from gateway.payments.overage import Overages
from gateway.payments.stripe_api import StripeApi
from gateway.payments.subscriptions import Subscriptions
from gateway.payments.top_ups import TopUps
from gateway.payments.whose import Marks
from gateway.services.secrets import SecretMissing, resolve

if TYPE_CHECKING:
    from gateway.contract.services import Database


class StripeSide:
    """The parts of it.

    Args:
        settings: ``payments.stripe``.
        root: where ``file:`` starts.
        database: where it is kept.
        budgets: what is bought adds to them.
        marks: what is written on everything at Stripe.
        back: where Stripe's pages lead back to.

    Raises:
        SecretMissing: the key cannot be read.

    Attributes:
        settings: what can be bought.
        api: Stripe.
        customers: knows people as customers.
        top_ups: follows payments.
        subscriptions: follows subscriptions.
        events: takes events.
        overages: tells of overage; None where no meter is named.
        desk: opens Stripe's pages.
    """

    def __init__(
        self,
        settings: StripeSettings,
        root: Path,
        database: Database,
        budgets: Budgets,
        marks: Marks,
        back: str,
    ) -> None:
        self.settings, self._root = settings, root
        key = resolve(settings.secret_key, root).get_secret_value()
        self.api = StripeApi(key, settings.url)
        self.customers = Customers(database, self.api, marks)
        self.top_ups = TopUps(database, self.api, marks, budgets)
        self.subscriptions = Subscriptions(
            database, self.api, marks, settings.prices, budgets.accounts.forget
        )
        self.events = Events(
            database, self.api, self.secrets, self.top_ups, self.subscriptions, self.customers
        )
        self.overages = (
            Overages(settings.overage, database, self.api, budgets, self.subscriptions)
            if settings.overage is not None
            else None
        )
        self.desk = Desk(
            settings, self.api, marks, self.customers, self.subscriptions, budgets, back
        )

    def secrets(self) -> tuple[str, ...]:
        """What signs events; one that cannot be read any more signs nothing."""
        found = list[str]()
        for reference in self.settings.webhook_secret:
            try:
                found.append(resolve(reference, self._root).get_secret_value())
            except SecretMissing:
                continue
        return tuple(found)

    def missing(self) -> Sequence[tuple[tuple[str | int, ...], str]]:
        """The secrets that cannot be read, as the place in ``payments.stripe`` and why."""
        found = list[tuple[tuple[str | int, ...], str]]()
        for place, reference in enumerate(self.settings.webhook_secret):
            try:
                resolve(reference, self._root)
            except SecretMissing as error:
                found.append((("webhook_secret", place), str(error)))
        return found
