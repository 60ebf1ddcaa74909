"""What the portal itself offers of usage: a tool, its view, and the job of the night.

It comes as a plugin does, named ``usage``, so that tiers, calls, pages and jobs treat it as they
treat every other; it is there where the portal has models or plans.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated, Any

from mcp_types import ToolAnnotations
from pydantic import Field

from auth import Caller, Tier
from gateway.budgets.budgets import Budgets
from gateway.budgets.statement import Statement
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
)

NAME = "usage"
"""What it is called in ``tiers.yaml`` and in addresses."""
RECONCILE = "reconcile"
"""The job of the night."""


def usage_plugin(budgets: Budgets) -> Plugin:
    """Usage as a plugin of the portal's own.

    Args:
        budgets: whose.
    """

    @asynccontextmanager
    async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
        from gateway.budgets.reconciliation import SCHEDULE

        yield Offer(
            tools=[_tool(budgets)],
            views=[View.beside(__file__, "month", "Models", "get_usage", listed=True)],
            jobs=[Job(RECONCILE, _reconciling(budgets), SCHEDULE)],
            personal=budgets.erasure.declaration(),
        )

    summary = "What language models cost whoever has them called, and what is left."
    return Plugin(NAME, summary, opened, PluginConfig, in_portal="is a part of the portal")


def _tool(budgets: Budgets) -> Tool:
    async def get_usage(
        month: Annotated[
            str | None, Field(description="Such as 2026-11; the current one if left out.")
        ] = None,
        *,
        caller: Caller,
    ) -> Statement:
        """Show what language models cost you this month, what is left of your budget and when it
        is new; by day, model, source and operation. It shows your own calls alone."""
        if caller.person is None:  # nobody signed out comes here; the floor is above them
            raise ToolFailed("sign_in_needed", "Sign in: usage is shown to whose it is.")
        try:
            return await budgets.statements.of(caller.person, month)
        except ValueError as error:
            raise ToolFailed("invalid_month", f"The month {error}.") from None

    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return Tool.of(
        get_usage,
        tier=Tier.PUBLIC,
        floor=Tier.PUBLIC,
        title="Show your usage of models",
        annotations=hints,
    )


def _reconciling(budgets: Budgets) -> Any:
    async def reconcile(run: JobRun, payload: Mapping[str, Any]) -> Any:
        async def held_against_calls() -> Any:
            return [asdict(each) for each in await budgets.reconciliation.run()]

        return {"corrected": await run.step("reconcile", held_against_calls)}

    return reconcile
