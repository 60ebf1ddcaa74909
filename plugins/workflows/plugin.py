"""The workflows plugin: a playbook of workflows, skill cards and prompts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.contract import Host, Offer, Plugin, hookimpl
from plugins.workflows.commands import EXPORT, IMPORT
from plugins.workflows.config import WorkflowsConfig


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="workflows",
        summary="A playbook of workflows, skill cards and prompts that members write and walk.",
        config=WorkflowsConfig,
        open=open_workflows,
        commands=(IMPORT, EXPORT),
        in_portal="declares rows for tiers.yaml",
    )


@asynccontextmanager
async def open_workflows(config: WorkflowsConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve the playbook."""
    # Late, because these need the database driver, and commands start without it.
    from plugins.workflows.offer import open_offer

    async with open_offer(config, host) as offer:
        yield offer
