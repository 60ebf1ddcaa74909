"""The knowledge plugin: a community's knowledge base, kept in step, searched and served."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from gateway.contract import Finding, Host, Offer, Plugin, hookimpl
from plugins.knowledge.commands import COMMANDS
from plugins.knowledge.config import KnowledgeConfig


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="knowledge",
        summary="A community's knowledge base: search, lexicon, documents.",
        config=KnowledgeConfig,
        open=open_knowledge,
        commands=COMMANDS,
        check=check_knowledge,
        in_portal="runs jobs",
    )


@asynccontextmanager
async def open_knowledge(config: KnowledgeConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the store holds, and bring it up to date with the sources.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
    """
    # Late, because these need the database driver and the index, and commands start without.
    from plugins.knowledge.opening import opened

    async with opened(config, host) as offer:
        yield offer


async def check_knowledge(config: KnowledgeConfig, host: Host) -> Sequence[Finding]:
    """What ``porch check`` says of the section."""
    from plugins.knowledge.check import check

    return await check(config, host)
