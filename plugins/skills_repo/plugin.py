"""The skills_repo plugin: skills, agent profiles and docs from Git repositories."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from gateway.contract import Finding, Host, Offer, Plugin, hookimpl
from plugins.skills_repo.commands import CHECK, INDEX, INSTALL
from plugins.skills_repo.config import SkillsRepoConfig


@hookimpl
def porch_plugin() -> Plugin:
    """Declare the plugin."""
    return Plugin(
        name="skills_repo",
        summary="Skills, agent profiles and docs from Git repositories.",
        config=SkillsRepoConfig,
        open=open_skills_repo,
        commands=(INDEX, CHECK, INSTALL),
        command="skills",
        check=check_skills_repo,
        in_portal="runs jobs",
    )


@asynccontextmanager
async def open_skills_repo(config: SkillsRepoConfig, host: Host) -> AsyncGenerator[Offer]:
    """Serve what the indexes hold, and keep them up to date."""
    # Late, because these need the index and the search, and commands start without.
    from plugins.skills_repo.opening import opened

    async with opened(config, host) as offer:
        yield offer


async def check_skills_repo(config: SkillsRepoConfig, host: Host) -> Sequence[Finding]:
    """What ``porch check`` says of the section."""
    from plugins.skills_repo.check import check

    return await check(config, host)
