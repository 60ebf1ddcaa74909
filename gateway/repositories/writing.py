"""Sends GitHub what changes a repository, as the operator, and again where it does not answer."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json

from gateway.repositories.api import Api, Asking
from gateway.repositories.app import Operator
from gateway.repositories.errors import ADVICE, Advice, Place, SourceFailed
from gateway.repositories.retry import Retry

CONTENTS = "Contents: read and write"
"""The permission that branches and commits take, as GitHub's settings call it."""
PULL_REQUESTS = "Pull requests: read and write"
"""The permission that pull requests take."""

WAITED_FOR = Retry(retries=2, first_s=0.5, max_s=5.0, timeout_s=30.0)
"""How often GitHub is asked again while somebody waits."""
_MAX_ANSWER_BYTES = 4 * 1024 * 1024


class RepositoryWriting:
    """One repository, written to with the operator's credential.

    Every request may be sent again: what is built upon it leaves nothing doubled.

    Args:
        api: GitHub.
        name: ``owner/repo``; an attribute too.
        operator: the operator's credential, or None where there is none.
        retry: how often a request is made again; GitHub's Retry-After counts.
        advice: what errors tell the portal's admin to change.
    """

    def __init__(
        self,
        api: Api,
        name: str,
        operator: Operator | None,
        retry: Retry = WAITED_FOR,
        advice: Advice = ADVICE,
    ) -> None:
        self._api = api
        self.name = name
        self._operator = operator
        self._retry = retry
        self._advice = advice

    async def ask(
        self, method: str, what: str, needs: str, value: Any = None, *, branch: str | None = None
    ) -> Any:
        """Send one request.

        Args:
            method: the HTTP method.
            what: the path below the repository's, with its parts quoted, and the query.
            needs: the permission that it takes, for the error where it is missing.
            value: JSON values to send along.
            branch: the branch that errors name.

        Returns:
            The JSON of the answer; None where it has none.

        Raises:
            SourceFailed: GitHub refuses, or does not answer.
        """
        return await self._retry.ask(lambda: self._once(method, what, needs, value, branch))

    async def _once(
        self, method: str, what: str, needs: str, value: Any, branch: str | None
    ) -> Any:
        place = Place(self.name, None, branch)
        if self._operator is None:
            text = "The portal has no credential to write to GitHub with. Its admin must "
            raise SourceFailed("UNAUTHORIZED", f"{text}{self._advice.credential}.", place)
        token = await self._operator.token()
        asking = Asking(place, token, "operator", self._advice, needs=needs)
        path = f"/repos/{self.name}/{what}"
        try:
            answer = await self._api.send(method, path, asking, _MAX_ANSWER_BYTES, value)
        except SourceFailed as failure:
            if failure.code == "UNAUTHORIZED":
                self._operator.refused()
            raise
        try:
            return from_json(answer.body) if answer.body else None
        except ValueError:
            text = "GitHub answers with something else than its JSON. Try again in a minute."
            raise SourceFailed(
                "UPSTREAM_ERROR", text, place, status=answer.status, transient=True
            ) from None


def refused_because(failure: SourceFailed, *words: str) -> bool:
    """Whether GitHub could not do what it was asked (422, 409), and says so in such words."""
    said = failure.said.lower()
    return failure.status in (409, 422) and any(each.lower() in said for each in words)
