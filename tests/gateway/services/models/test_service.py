"""Asking a model for a value, and what the table of usage says of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from auth import Caller, Tier
from gateway.config.language_models import LanguageModels
from gateway.contract import ModelFailed
from gateway.services.database.service import OwnedDatabase
from gateway.services.models.records import CallEnd, CallStart
from tests.gateway.services.models.conftest import Opened, Verdict, every_api, rows
from tests.servers.openai_compatible import OpenAICompatible, Reply

ANNA = Caller("person:anna", Tier.MEMBERS)
PRICES = {"m": {"input": "0.15", "output": "0.60", "cache_read": "0.075"}}


@every_api
async def test_an_answer_by_the_schema_is_a_value_with_who_gave_it(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(Reply(value={"mood": "glad", "score": 7}, model="m-2026-10-01"))
    answer = (
        await opened()
        .for_owner("notes")
        .generate(
            Verdict, "What a day!", "simple", caller=ANNA, operation="judge", source="civic-kb"
        )
    )
    assert answer.value == Verdict(mood="glad", score=7)
    said = answer.provenance
    assert (said.model, said.provider, said.who) == ("m-2026-10-01", "local", None)
    [row] = await rows(database)
    assert row["id"] == said.call
    named = ("person", "plugin", "source", "operation", "role", "provider", "model", "outcome")
    assert [row[name] for name in named] == [
        "person:anna", "notes", "civic-kb", "judge", "simple", "local", "m", "ok",
    ]  # fmt: skip
    assert row["model_answered"] == "m-2026-10-01"


@every_api
@pytest.mark.parametrize("structure", ["auto", "tool", "schema"])
async def test_a_schema_reaches_the_model_as_a_tool_or_as_a_format(
    opened: Opened, server: OpenAICompatible, structure: str
) -> None:
    model = "m" if server.base else "claude-opus-5"  # which takes a format, as is known
    service = opened(provider={"structure": structure}, simple=f"local/{model}")
    models = service.for_owner("notes")
    answer = await models.generate(Verdict, "?", "simple", caller=None, operation="judge")
    assert answer.value == Verdict(mood="x", score=1)
    [asked] = server.asked
    by_format = structure == "schema" or (structure == "auto" and model != "m")
    assert ("response_format" in asked.body) == by_format


@every_api
async def test_tokens_and_cost_are_what_the_provider_billed(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    kept = {"cached_tokens": 400}
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
    server.then(Reply(usage=usage | {"prompt_tokens_details": kept}))
    models = opened(provider={"prices": PRICES}).for_owner("notes")
    await models.generate(Verdict, "?", "simple", caller=ANNA, operation="judge")
    [row] = await rows(database)
    counted = [row[f"tokens_{name}"] for name in ("in", "out", "cache_read", "cache_write")]
    assert counted == [1000, 10, 400, 0]
    assert row["cost_nano_usd"] == 600 * 150 + 400 * 75 + 10 * 600
    assert (row["price_list"], row["price_date"]) == ("portal.yaml", row["at"].date())


@every_api
async def test_a_cost_that_nobody_knows_is_none_and_not_nothing(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    models = opened().for_owner("notes")
    await models.generate(Verdict, "?", "simple", caller=ANNA, operation="judge")
    server.then(Reply(usage={}))
    await models.generate(Verdict, "?", "simple", caller=ANNA, operation="judge")
    priced, uncounted = await rows(database)
    assert priced["tokens_in"] == server.billed["prompt_tokens"]
    assert (priced["cost_nano_usd"], priced["price_list"]) == (None, None)
    assert (uncounted["tokens_in"], uncounted["cost_nano_usd"]) == (None, None)


@every_api
async def test_an_answer_that_does_not_fit_is_asked_for_once_more(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(Reply(value={"mood": "glad", "score": "many"}))
    models = opened().for_owner("notes")
    answer = await models.generate(Verdict, "How so?", "simple", caller=None, operation="judge")
    assert answer.value == Verdict(mood="x", score=1)
    assert [row["outcome"] for row in await rows(database)] == ["invalid_answer", "ok"]
    assert "score: Input should be a valid integer" in server.asked[1].texts()


@every_api
async def test_a_budget_is_asked_before_each_request_and_told_after_it(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    told = list[tuple[str, str]]()

    class Once:
        async def before_call(self, caller: Caller | None, call: CallStart) -> None:
            assert caller is ANNA
            if told:
                raise ModelFailed("budget_reached", "Monthly model budget reached.")

        async def after_call(self, call: CallStart, end: CallEnd) -> None:
            told.append((call.id, end.outcome))

    service = opened()
    service.budget = Once()
    server.then(Reply(value={"mood": 1}))
    with pytest.raises(ModelFailed) as refused:
        await service.for_owner("notes").generate(
            Verdict, "?", "simple", caller=ANNA, operation="judge"
        )
    assert refused.value.code == "budget_reached"
    assert len(server.asked) == 1
    assert told == [(row["id"], row["outcome"]) for row in await rows(database)]


def test_without_a_model_nothing_of_the_library_is_imported() -> None:
    program = (
        "import asyncio, sys, tempfile, pathlib\n"
        "import gateway.assembly, gateway.app\n"
        "from gateway.services import open_services\n"
        "from gateway.config.portal_keys import Services\n"
        "async def main():\n"
        "    async with open_services(Services(embedding='none'), pathlib.Path(tempfile.mkdtemp()))"
        " as services:\n"
        "        assert not services.for_plugin('notes').models.available('simple')\n"
        "        async with services.models.running(): pass\n"
        "asyncio.run(main())\n"
        "heavy = {'pydantic_ai', 'openai', 'anthropic', 'genai_prices'}\n"
        "sys.exit(str(found) if (found := heavy & sys.modules.keys()) else 0)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


async def test_what_calls_would_cost_is_known_before_and_asks_nobody(
    opened: Opened, server: OpenAICompatible
) -> None:
    models = opened(provider={"prices": PRICES}).for_owner("notes")
    found = await models.expected_cost("simple", 2_000_000, 500_000)
    assert found is not None
    assert (found.model, str(found.usd)) == ("local/m", "0.6")
    assert found.price_list == "portal.yaml"
    free = opened(provider={"prices": {}}).for_owner("notes")
    unknown = await free.expected_cost("simple", 1, 1)
    assert unknown is not None
    assert unknown.usd is None
    none = opened(LanguageModels()).for_owner("notes")
    assert await none.expected_cost("simple", 1, 1) is None
    assert server.asked == []
