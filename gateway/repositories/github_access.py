"""Opens GitHub with the operator's credential."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gateway.repositories.branches import Branches
from gateway.repositories.errors import ADVICE, Advice
from gateway.repositories.pull_requests import PullRequests
from gateway.repositories.retry import Retry
from gateway.repositories.settings import Github
from gateway.repositories.writing import WAITED_FOR, RepositoryWriting

if TYPE_CHECKING:
    from gateway.repositories.api import Api
    from gateway.repositories.app import Operator
    from gateway.repositories.github import GithubRepository

ReadSecret = Callable[[str], str]
"""Reads a secret that a setting names; raises ``ValueError`` where it is missing."""


class OpenGithub:
    """GitHub, for as long as :func:`open_github` holds it open.

    Args:
        api: its REST API.
        operator: the operator's credential, or None.
    """

    def __init__(self, api: Api, operator: Operator | None) -> None:
        self._api = api
        self._operator = operator

    def repository(
        self,
        name: str,
        branch: str,
        max_file: int,
        *,
        reads_as_operator: bool = True,
        advice: Advice = ADVICE,
    ) -> GithubRepository:
        """A repository at one branch. Nothing is asked yet.

        Args:
            name: ``owner/repo``.
            branch: the branch, a tag or a commit.
            max_file: the largest file that is served, in bytes.
            reads_as_operator: whether the operator's credential reads single files too, rather
                than the caller's, or nobody's; the whole tree is always read with the operator's.
            advice: what errors tell the portal's admin to change.
        """
        from gateway.repositories.github import GithubRepository

        reads_as = self._operator if reads_as_operator else None
        return GithubRepository(
            self._api,
            name,
            branch,
            max_file,
            reads_as=reads_as,
            indexes_as=self._operator,
            advice=advice,
        )

    def branches(self, name: str, retry: Retry = WAITED_FOR, advice: Advice = ADVICE) -> Branches:
        """The branches of a repository, to be written with the operator's credential.

        Args:
            name: ``owner/repo``.
            retry: how often GitHub is asked again.
            advice: what errors tell the portal's admin to change.
        """
        return Branches(RepositoryWriting(self._api, name, self._operator, retry, advice))

    def pull_requests(
        self, name: str, retry: Retry = WAITED_FOR, advice: Advice = ADVICE
    ) -> PullRequests:
        """The pull requests of a repository; likewise."""
        return PullRequests(RepositoryWriting(self._api, name, self._operator, retry, advice))


@asynccontextmanager
async def open_github(github: Github, secret: ReadSecret) -> AsyncGenerator[OpenGithub]:
    """Connect to GitHub, for as long as the block lasts.

    Args:
        github: where it is, and the operator's credential.
        secret: reads a secret, as the host's does.

    Raises:
        ValueError: the operator's credential is not where the setting says.
    """
    from gateway.repositories.api import Api, connected

    async with connected() as client:
        api = Api(client, github.api_url)
        yield OpenGithub(api, _operator(github, api, secret))


def _operator(github: Github, api: Api, secret: ReadSecret) -> Operator | None:
    from gateway.repositories.app import AppTokens, FixedToken

    if github.token is not None:
        return FixedToken(secret(github.token))
    if github.app is not None:
        app = github.app
        return AppTokens(api, str(app.id), app.installation, secret(app.private_key))
    return None
