"""GitHub as a source of facts: who belongs to which organization and team."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from auth.document_fetcher import system_tls
from auth.facts import Question, SourceUnavailable
from auth.sign_in.github import HEADERS

if TYPE_CHECKING:
    import httpx2

BATCH_TIMEOUT_S = 4.0
"""How long a batch of questions may take; those that are answered by then count."""
MAX_CONCURRENT_REQUESTS = 8
"""Requests at a time, as GitHub asks for."""
MAX_PAUSE_S = 3600.0
"""The longest that GitHub is left alone because it asked for it."""


class GithubSource:
    """Knows who belongs to organizations and teams.

    Accounts are known by their numeric id, because a login can change hands; so each batch asks
    for the current logins first.

    Args:
        api_url: GitHub's API.
        token: a token that may read organizations and teams; without it only public membership
            of organizations is known.
        seconds: how long a batch may take.
        clock: seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        api_url: str,
        token: str | None = None,
        *,
        seconds: float = BATCH_TIMEOUT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api = api_url
        self._token = token
        self._seconds = seconds
        self._clock = clock
        self._paused_until = 0.0
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, bool]:
        """Answer ``("org", ORG, ID)`` and ``("team", ORG, TEAM, ID)``.

        Raises:
            SourceUnavailable: GitHub answers none of them.
        """
        import httpx2

        accounts: dict[str, list[Question]] = {}
        for question in questions:
            accounts.setdefault(str(question.key[-1]), []).append(question)
        headers = dict(HEADERS)
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        client = httpx2.AsyncClient(
            base_url=self._api, headers=headers, verify=await system_tls(), timeout=self._seconds
        )
        batch = _Batch()
        try:
            async with client, asyncio.timeout(self._seconds), asyncio.TaskGroup() as group:
                for account, asked in accounts.items():
                    group.create_task(self._account(client, account, asked, batch))
        except TimeoutError:  # the answers that came in time count
            batch.problem = batch.problem or "GitHub did not answer in time."
        if questions and not batch.answers:
            raise SourceUnavailable(batch.problem or "GitHub does not answer.")
        return batch.answers

    async def _account(
        self, client: httpx2.AsyncClient, account: str, asked: list[Question], batch: _Batch
    ) -> None:
        """Answer what is asked about one account."""
        try:
            login = await self._login(client, account)
        except SourceUnavailable as problem:
            batch.problem = str(problem)
            return
        for question in asked:
            try:
                batch.answers[question] = login is not None and await self._belongs(
                    client, question, quote(login, safe="")
                )
            except SourceUnavailable as problem:
                batch.problem = str(problem)

    async def _login(self, client: httpx2.AsyncClient, account: str) -> str | None:
        """The current login of an account, or None if the account is gone."""
        if not (account.isascii() and account.isdecimal()):
            return None
        response = await self._get(client, f"/user/{account}")
        if response.status_code == 404:
            return None
        user = _json(response)
        if str(user.get("id")) != account or not isinstance(user.get("login"), str):
            raise SourceUnavailable("GitHub's answer about an account cannot be understood.")
        return str(user["login"])

    async def _belongs(self, client: httpx2.AsyncClient, question: Question, login: str) -> bool:
        kind, organization, *rest = (quote(str(part), safe="") for part in question.key)
        if kind == "org":
            return await self._in_organization(client, organization, login)
        if kind != "team":
            raise SourceUnavailable("GitHub is not asked such a thing.")
        if not self._token:
            raise SourceUnavailable("GitHub shows teams only to sign_in.github.token.")
        path = f"/orgs/{organization}/teams/{rest[0]}/memberships/{login}"
        response = await self._get(client, path)
        return response.status_code != 404 and _json(response).get("state") == "active"

    async def _in_organization(
        self, client: httpx2.AsyncClient, organization: str, login: str
    ) -> bool:
        if self._token:
            response = await self._get(client, f"/orgs/{organization}/members/{login}")
            # 302 where the token's owner is no member: then only public membership is shown.
            if response.status_code != 302:
                return _is_there(response)
        path = f"/orgs/{organization}/public_members/{login}"
        return _is_there(await self._get(client, path))

    async def _get(self, client: httpx2.AsyncClient, path: str) -> httpx2.Response:
        import httpx2

        async with self._turns:
            if self._clock() < self._paused_until:
                raise SourceUnavailable(self._pause())
            try:
                response = await client.get(path)
            except (httpx2.HTTPError, OSError):
                raise SourceUnavailable("GitHub does not answer.") from None
        pause = _asks_for_pause(response, self._clock())
        if pause is not None:
            self._paused_until = self._clock() + min(max(pause, 1.0), MAX_PAUSE_S)
            raise SourceUnavailable(self._pause())
        return response

    def _pause(self) -> str:
        until = datetime.fromtimestamp(self._paused_until, UTC)
        return f"GitHub takes no more questions until {until:%H:%M:%S} UTC."


class _Batch:
    """The answers to a batch so far, and why the others are missing."""

    def __init__(self) -> None:
        self.answers: dict[Question, bool] = {}
        self.problem: str | None = None


def _is_there(response: httpx2.Response) -> bool:
    if response.status_code in {204, 404}:
        return response.status_code == 204
    raise SourceUnavailable(_unexpected(response))


def _json(response: httpx2.Response) -> Mapping[str, Any]:
    if response.status_code != 200:
        raise SourceUnavailable(_unexpected(response))
    try:
        content = response.json()
    except ValueError:
        content = None
    return content if isinstance(content, dict) else {}


def _unexpected(response: httpx2.Response) -> str:
    if response.status_code in {401, 403}:
        return (
            f"GitHub refuses the portal's token (HTTP {response.status_code}). An admin must renew "
            "sign_in.github.token."
        )
    return f"GitHub answers with HTTP {response.status_code}."


def _asks_for_pause(response: httpx2.Response, now: float) -> float | None:
    """The seconds for which GitHub asks to send no requests, or None."""
    if response.status_code not in {403, 429}:
        return None
    headers = response.headers
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        return float(reset) - now if reset.isdecimal() else 60.0
    return 60.0 if response.status_code == 429 else None
