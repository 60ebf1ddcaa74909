"""The repositories that the sources name, opened with the operator's credential."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from plugins.skills_repo.config import Github, SkillsRepoConfig, Source
from plugins.skills_repo.repositories.local import LocalRepository
from plugins.skills_repo.repositories.protocol import Repository

if TYPE_CHECKING:
    from plugins.skills_repo.repositories.api import Api
    from plugins.skills_repo.repositories.app import Operator

ReadSecret = Callable[[str], str]
"""Reads a secret that a setting names; raises ``ValueError`` where it is missing."""


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
    from plugins.skills_repo.repositories.api import Api, connected

    async with connected() as client:
        api = Api(client, config.github.api_url)
        operator = _operator(config.github, api, secret)
        yield found | {each.name: _github(each, api, most, operator) for each in remote}


def _github(source: Source, api: Api, most: int, operator: Operator | None) -> Repository:
    from plugins.skills_repo.repositories.github import GithubRepository

    return GithubRepository(
        api,
        source.github or "",
        source.ref or "",
        most,
        reads_as=operator if source.credential == "app" else None,
        indexes_as=operator,
    )


def _operator(github: Github, api: Api, secret: ReadSecret) -> Operator | None:
    from plugins.skills_repo.repositories.app import AppTokens, FixedToken

    if github.token is not None:
        return FixedToken(secret(github.token))
    if github.app is not None:
        app = github.app
        return AppTokens(api, str(app.id), app.installation, secret(app.private_key))
    return None
