"""What the portal itself offers of payments: tools, their page, a webhook, and jobs.

It comes as a plugin does, named ``payments``, and is there where ``payments`` of ``portal.yaml``
names something.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any

from mcp_types import ToolAnnotations
from pydantic import Field

from auth import Caller, Tier
from auth.callers import PERSON
from gateway.contract import (
    Host,
    Job,
    JobRun,
    Offer,
    Plugin,
    PluginConfig,
    Tool,
    ToolFailed,
    View,
    Webhook,
    Write,
)
from gateway.payments.erasure import PaymentErasure
from gateway.payments.payments import Payments
from gateway.payments.state import PageShown, PaymentState, state_of
from gateway.payments.stripe_side import StripeSide

NAME = "payments"
"""What it is called in ``tiers.yaml`` and in addresses."""
TRANSFERS, TRANSFERS_SCHEDULE = "transfers", "30 * * * * *"
"""The job that reads transfers of a token, once a minute."""
NIGHTLY = "nightly"
"""The job that holds payments against Stripe and the chain, and tells Stripe of overage."""
_OPENED = "Below is the page on which you pay. Nothing is charged before you say so there."
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_OPENS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
)


def payments_plugin(payments: Payments) -> Plugin:
    """Payments as a plugin of the portal's own.

    Args:
        payments: whose.
    """

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
        stripe = payments.stripe
        if stripe is not None:
            await stripe.api.begin()
        try:
            yield Offer(
                tools=[_get_payments(payments), *(_stripe_tools(stripe) if stripe else ())],
                views=[_view(stripe)],
                webhooks=_webhooks(stripe),
                jobs=_jobs(payments),
                personal=PaymentErasure(payments).declaration(),
            )
        finally:
            if stripe is not None:
                await stripe.api.close()

    summary = "Plans and credits for language models, and how they are paid."
    return Plugin(NAME, summary, opened, PluginConfig, in_portal="is a part of the portal")


def _view(stripe: StripeSide | None) -> View:
    names = ("buy_credit", "change_plan", "manage_payment") if stripe else ()
    writes = [Write(name, _OPENED) for name in names]
    return View.beside(__file__, "overview", "Payments", "get_payments", listed=True, writes=writes)


def _webhooks(stripe: StripeSide | None) -> list[Webhook]:
    if stripe is None:
        return []
    return [Webhook("stripe", stripe.events.verify, stripe.events.run)]


def _jobs(payments: Payments) -> list[Job]:
    from gateway.payments.reconciliation import SCHEDULE

    async def nightly(run: JobRun, payload: Mapping[str, Any]) -> Any:
        differences = await run.step("reconcile", _reconciled, payments)
        overage = await run.step("overage", _overage_told, payments)
        return {"differences": differences, "overage": overage}

    jobs = [Job(NIGHTLY, nightly, SCHEDULE)]
    chain = payments.chain
    if chain is not None:

        async def transfers(run: JobRun, payload: Mapping[str, Any]) -> Any:
            return {"credited": await run.step("look", chain.look)}

        jobs.append(Job(TRANSFERS, transfers, TRANSFERS_SCHEDULE))
    return jobs


async def _reconciled(payments: Payments) -> Any:
    from gateway.payments.reconciliation import reconcile

    return [asdict(each) for each in await reconcile(payments)]


async def _overage_told(payments: Payments) -> Any:
    overages = payments.stripe.overages if payments.stripe else None
    return [asdict(each) for each in await overages.tell()] if overages else []


def _get_payments(payments: Payments) -> Tool:
    async def get_payments(*, caller: Caller) -> PaymentState:
        """Show which plan you have, what you pay for it, which credits and plans can be bought,
        and what you have bought."""
        return await state_of(payments, _person(caller))

    return _tool(get_payments, "Show your payments", _READS)


def _stripe_tools(stripe: StripeSide) -> list[Tool]:
    async def buy_credit(
        amount: Annotated[
            str, Field(description="US dollars, one of the amounts that get_payments names.")
        ],
        *,
        caller: Caller,
    ) -> PageShown:
        """Open a page of Stripe's on which you can buy credit for language models, for this month.
        Show its address to the person: nothing is charged before they pay there."""
        return _shown(await stripe.desk.buy_credit(_person(caller), amount))

    async def change_plan(
        plan: Annotated[str, Field(description="The plan's name, as get_payments names it.")],
        seats: Annotated[
            int | None, Field(description="Seats of a team's plan; those it has if left out.")
        ] = None,
        *,
        caller: Caller,
    ) -> PageShown:
        """Open a page of Stripe's on which you can take a plan, or exchange yours for it. Show its
        address to the person: nothing changes before they say so there."""
        return _shown(await stripe.desk.change_plan(_person(caller), plan, seats))

    async def manage_payment(*, caller: Caller) -> PageShown:
        """Open the page of Stripe's on which you see invoices, change your card and end your
        subscription. The address is for the person alone, and ends in minutes."""
        return _shown(await stripe.desk.manage(_person(caller)))

    return [
        _tool(buy_credit, "Buy credit", _OPENS),
        _tool(change_plan, "Change your plan", _OPENS),
        _tool(manage_payment, "Manage what you pay", _OPENS),
    ]


def _tool(run: Any, title: str, annotations: ToolAnnotations) -> Tool:
    return Tool.of(run, tier=Tier.PUBLIC, floor=Tier.PUBLIC, title=title, annotations=annotations)


def _shown(page: Any) -> PageShown:
    return PageShown(title=page.title, url=page.url, until=page.until.isoformat())


def _person(caller: Caller) -> str:
    if caller.person is None or not caller.person.startswith(PERSON):
        raise ToolFailed("sign_in_needed", "Sign in as a person: only people can pay here.")
    return caller.person
