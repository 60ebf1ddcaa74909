"""Budgets in front of the portal's real models, over a stand-in of a provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import BaseModel

from auth import Caller, Tier
from gateway.contract import ModelFailed, Models
from gateway.testing import TestPortal, open_test_portal
from tests.journeys import garden
from tests.servers.openai_compatible import OpenAICompatible

PLANS = "plans: {free: {title: Free, budget: 0.50}}\ndefault: free\n"
DEE = Caller("person:dee", Tier.PUBLIC)


class Mood(BaseModel):
    """What a text sounds like."""

    mood: str


@pytest.fixture
def server() -> Iterator[OpenAICompatible]:
    with OpenAICompatible() as found:
        yield found


@pytest.fixture
async def portal(server: OpenAICompatible) -> AsyncIterator[TestPortal]:
    """A portal whose model is so dear that one call spends the month's budget."""
    price = {"input": 1_000_000, "output": 1_000_000}
    provider = {"kind": "compatible", "url": server.url, "prices": {"m": price}}
    models = {"providers": {"local": provider}, "simple": "local/m"}
    async with open_test_portal(
        garden, config={"services": {"models": models}}, plans=PLANS
    ) as found:
        yield found


async def ask(models: Models, caller: Caller | None) -> None:
    await models.generate(Mood, "What a day!", "simple", caller=caller, operation="feel")


async def test_a_call_is_counted_and_the_next_one_does_not_reach_the_provider(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    models = portal.running.services.models.for_owner("garden")
    await ask(models, DEE)
    asked = len(server.asked)
    with pytest.raises(ModelFailed, match="Monthly model budget reached") as failed:
        await ask(models, DEE)
    assert failed.value.code == "budget_reached"
    assert len(server.asked) == asked
    account = await portal.running.budgets.accounts.of(DEE)
    assert account is not None
    budgets = portal.running.budgets
    figures = await budgets.gate.figures(account, budgets.ledger.clock())
    billed = server.billed
    tokens = billed["prompt_tokens"] + billed["completion_tokens"]
    assert figures.spent == tokens * 10**9  # a dollar for each token
    assert figures.running == 0
    await ask(models, None)  # the portal's own work has no limit here


async def test_the_usage_that_is_shown_is_what_the_provider_has_billed(
    portal: TestPortal, server: OpenAICompatible
) -> None:
    person = await portal.sign_in("dee")
    models = portal.running.services.models.for_owner("garden")
    await ask(models, Caller(person.id, Tier.PUBLIC))
    answer = await portal.call("get_usage", tier="dee")
    assert answer.structured is not None
    (line,) = answer.structured["by_operation"]
    assert line["name"] == "feel"
    assert line["tokens_in"] == server.billed["prompt_tokens"]
    assert line["tokens_out"] == server.billed["completion_tokens"]
    assert answer.structured["state"] == "reached"
