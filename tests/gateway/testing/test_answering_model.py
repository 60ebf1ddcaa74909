"""The model that plugin authors test with, behind a whole portal."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select

from auth import Caller
from gateway.contract import Host, Offer, Plugin, Tool, hookimpl
from gateway.services.models.table import model_calls
from gateway.testing import open_test_portal
from gateway.testing.answering_model import AnsweringModel


class Summary(BaseModel):
    """A text in short."""

    line: str


def summarizer() -> Any:
    """A plugin whose one tool asks a model."""

    @asynccontextmanager
    async def open_plugin(config: Any, host: Host) -> AsyncGenerator[Offer]:
        async def summarize(text: str, caller: Caller) -> Summary:
            """Say it in one line.

            Args:
                text: what.
            """
            answer = await host.models.generate(
                Summary, text, "simple", caller=caller, operation="summarize", source="notes"
            )
            return answer.value

        yield Offer(tools=(Tool.of(summarize),))

    module = ModuleType("summarizer")
    declared = Plugin("summarizer", "Says it in one line.", open_plugin)

    @hookimpl
    def porch_plugin() -> Plugin:
        return declared

    module.porch_plugin = porch_plugin  # type: ignore[attr-defined]
    return module


async def test_a_plugin_is_answered_by_its_schema_and_metered() -> None:
    with AnsweringModel(lambda prompt: {"line": prompt.upper()}) as model:
        async with open_test_portal(summarizer(), config=model.config) as portal:
            result = await portal.call("summarize", {"text": "all is well"})
            assert result.structured == {"line": "ALL IS WELL"}
            database = portal.running.services.shared_database
            async with database.read() as connection:
                [row] = (await connection.execute(select(model_calls))).mappings()
    assert model.prompts == ["all is well"]
    named = [row[name] for name in ("plugin", "operation", "source", "outcome", "cost_nano_usd")]
    assert named == ["summarizer", "summarize", "notes", "ok", 0]


async def test_without_an_answer_of_its_own_it_gives_what_fits() -> None:
    with AnsweringModel() as model:
        async with open_test_portal(summarizer(), config=model.config) as portal:
            result = await portal.call("summarize", {"text": "?"})
            assert result.structured == {"line": "x"}


async def test_what_does_not_fit_is_an_error_that_the_caller_can_read() -> None:
    with AnsweringModel(lambda prompt: {"line": 1}) as model:
        async with open_test_portal(summarizer(), config=model.config) as portal:
            result = await portal.call("summarize", {"text": "?"})
    assert result.is_error
    assert "never by the schema" in result.text


async def test_a_portal_without_a_model_says_so() -> None:
    async with open_test_portal(summarizer()) as portal:
        result = await portal.call("summarize", {"text": "?"})
        assert result.is_error
        assert "no language model" in result.text
        assert not portal.running.services.models.available("simple")
