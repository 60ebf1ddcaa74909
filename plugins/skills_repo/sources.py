"""The repositories that the sources name, opened with the operator's credential."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from gateway.repositories import Advice, LocalRepository, ReadSecret, Repository, open_github
from plugins.skills_repo.config import SkillsRepoConfig, Source

_ADVICE = Advice(credential="give the source one (credential: app or caller)")


@asynccontextmanager
async def opened(
    config: SkillsRepoConfig, secret: ReadSecret, only: Sequence[Source] | None = None
) -> AsyncGenerator[Mapping[str, Repository]]:
    """A repository for each source, by the source's name, for as long as the block lasts.

    Args:
        config: the plugin's section.
        secret: reads a secret.
        only: these sources rather than all of them.

    Raises:
        ValueError: the operator's credential is not where the setting says.
    """
    sources = config.sources if only is None else only
    most = int(config.max_file)
    found: dict[str, Repository] = {
        source.name: LocalRepository(source.directory, source.branch, most)
        for source in sources
        if source.directory is not None
    }
    remote = [source for source in sources if source.github is not None]
    if not remote:
        yield found
        return
    async with open_github(config.github, secret) as github:
        yield found | {
            each.name: github.repository(
                each.github or "",
                each.ref or "",
                most,
                reads_as_operator=each.credential == "app",
                advice=_ADVICE,
            )
            for each in remote
        }
