"""Payments, as the portal holds them together."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from gateway.budgets.budgets import Budgets
from gateway.budgets.statement import PayLinks
from gateway.config.portal import Portal
from gateway.contract.services import Database
from gateway.contract.suggestions import unknown
from gateway.errors import ConfigError, Problem
from gateway.identity.authentication import Authentication
from gateway.payments.stripe_side import StripeSide
from gateway.payments.transfers import Transfers
from gateway.payments.whose import Marks
from gateway.services.secrets import SecretMissing

PAGE = "/payments/overview"
"""Where people pay."""


class Payments:
    """The parts of it.

    Args:
        portal: the configuration; its ``payments`` names something.
        budgets: what is bought adds to them.
        authentication: says who people are.
        database: where it is kept.

    Raises:
        ConfigError: something that is named is not there.

    Attributes:
        stripe: what is paid through Stripe; None where nothing is.
        chain: what is paid by a token; None where nothing is.
    """

    def __init__(
        self,
        portal: Portal,
        budgets: Budgets,
        authentication: Authentication,
        database: Database,
    ) -> None:
        if problems := [*_wrong(portal, budgets)]:
            raise ConfigError(problems)
        self._portal, self.budgets = portal, budgets
        self.people, self.database = authentication.stores.people, database
        self.page = portal.config.url + PAGE
        self.stripe = self._stripe(portal)
        self.chain = self._chain(portal, authentication)
        settings = portal.config.payments.stripe
        budgets.statements.pay = PayLinks(
            url=self.page,
            plans=bool(settings and settings.prices),
            manage=settings is not None,
        )
        budgets.gate.pay = self.page
        if self.stripe is not None:
            budgets.accounts.paid = self.stripe.subscriptions.paid

    def notices(self) -> Iterator[str]:
        """What an admin should look at: plans that are sold and are no more."""
        settings = self._portal.config.payments.stripe
        for plan in sorted(settings.prices if settings else ()):
            if plan not in self.budgets.file.plans.plans:
                yield (
                    f"payments.stripe.prices of portal.yaml sells the plan {plan}, and plans.yaml "
                    "has none of that name: whoever pays for it has the plan that the rules give."
                )

    def _chain(self, portal: Portal, authentication: Authentication) -> Transfers | None:
        settings = portal.config.payments.chain
        if settings is None:
            return None
        rpc = authentication.methods.chains[settings.chain]
        return Transfers(settings, rpc, self.database, self.budgets)

    def _stripe(self, portal: Portal) -> StripeSide | None:
        settings = portal.config.payments.stripe
        if settings is None:
            return None
        marks = Marks(portal.config.url, self.people.get)
        try:
            side = StripeSide(settings, portal.root, self.database, self.budgets, marks, self.page)
        except SecretMissing as error:
            where = ("payments", "stripe", "secret_key")
            raise ConfigError([portal.source.problem(where, str(error))]) from None
        if missing := side.missing():
            found = [
                portal.source.problem(("payments", "stripe", *place), reason)
                for place, reason in missing
            ]
            raise ConfigError(found)
        return side


def _wrong(portal: Portal, budgets: Budgets) -> Iterator[Problem]:
    """What of ``payments`` does not fit the rest of the configuration."""
    config, plans = portal.config, budgets.file.plans
    if not plans:
        yield portal.source.problem(
            ("payments",), "needs plans.yaml: without plans nothing is sold"
        )
        return
    yield from _wrong_chain(portal)
    stripe = config.payments.stripe
    if stripe is not None:
        if find_spec("stripe") is None:
            reason = "needs what speaks to it: run `make payments`, or install porch[payments]"
            yield portal.source.problem(("payments", "stripe"), reason)
        for plan in stripe.prices:
            if plan not in plans.plans:
                where = ("payments", "stripe", "prices", plan)
                yield portal.source.problem(where, unknown(plan, set(plans.plans), "plan"))


def _wrong_chain(portal: Portal) -> Iterator[Problem]:
    config = portal.config
    chain = config.payments.chain
    if chain is not None:
        known = {str(each.id) for each in config.chains}
        if str(chain.chain) not in known:
            where, listed = ("payments", "chain", "chain"), ", ".join(sorted(known)) or "none"
            reason = f"the chain {chain.chain} is not in chains:; listed there: {listed}"
            yield portal.source.problem(where, reason)
        if not config.sign_in.wallet.enabled:
            reason = "needs sign_in.wallet: nobody can say which wallet is theirs"
            yield portal.source.problem(("payments", "chain"), reason)
