"""GitHub: signing in with an OAuth app, and who belongs to which organization and team."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from auth.callers import Account
from auth.credentials import BadCredential
from auth.facts import Question, SourceUnavailable
from auth.fetching import system_tls
from auth.redirects import Begun, begun, returned_code

if TYPE_CHECKING:
    import httpx2

SCOPES = "read:user user:email"
SIGN_IN_SECONDS = 10.0
"""How long GitHub may take to say whose code it is."""
SECONDS = 4.0
"""How long a batch of questions may take; those that are answered by then count."""
AT_ONCE = 8
"""Requests at a time, as GitHub asks for."""
LONGEST_PAUSE = 3600.0
_HEADERS = {
    "accept": "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    "user-agent": "porch",
}


class GithubSignIn:
    """Proves a GitHub account. The user's token is used to ask who it is, and dropped.

    Args:
        client_id: the OAuth app's client id.
        client_secret: its secret.
        url: GitHub, or a GitHub Enterprise server.
        api_url: its API.
    """

    label = "GitHub"

    def __init__(
        self,
        client_id: str,
        client_secret: str,
        url: str = "https://github.com",
        api_url: str = "https://api.github.com",
    ) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._url = url
        self._api = api_url

    async def begin(self, callback: str) -> Begun:
        """Prepare a sign-in.

        Args:
            callback: the portal's address to which GitHub sends the browser back.
        """
        return begun(f"{self._url}/login/oauth/authorize", self._client_id, SCOPES, callback)

    async def finish(
        self, callback: str, query: Mapping[str, str], remembered: Mapping[str, Any]
    ) -> Account:
        """The account that GitHub vouches for.

        Args:
            callback: the same address as at the beginning.
            query: what the browser brought back.
            remembered: what was remembered in the same browser.

        Raises:
            BadCredential: nothing is proved; the reason is for people.
        """
        code = returned_code(query, remembered, self.label)
        import httpx2
        from authlib.integrations.base_client import OAuthError  # type: ignore[import-untyped]

        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                return await self._account(callback, code, str(remembered.get("verifier", "")))
        except OAuthError as refusal:
            raise BadCredential(_refused(refusal.error)) from None
        except (httpx2.HTTPError, OSError, ValueError):
            raise BadCredential("GitHub does not answer. Try again in a minute.") from None

    async def _account(self, callback: str, code: str, verifier: str) -> Account:
        from authlib.integrations.httpx_client import (  # type: ignore[import-untyped]
            AsyncOAuth2Client,
        )

        client = AsyncOAuth2Client(
            self._client_id,
            self._client_secret,
            token_endpoint_auth_method="client_secret_post",  # noqa: S106 (a method's name)
            headers=_HEADERS,
            verify=await system_tls(),
            timeout=SIGN_IN_SECONDS,
        )
        async with client:
            await client.fetch_token(
                f"{self._url}/login/oauth/access_token",
                grant_type="authorization_code",
                code=code,
                code_verifier=verifier,
                redirect_uri=callback,
            )
            user = (await client.get(f"{self._api}/user")).raise_for_status().json()
            emails = await client.get(f"{self._api}/user/emails")
            # Whoever signs in may have kept their addresses to themselves.
            return _account(user, emails.json() if emails.status_code == 200 else [])


def _account(user: Any, emails: Any) -> Account:
    said = user if isinstance(user, dict) else {}
    number, login, created = said.get("id"), said.get("login"), said.get("created_at")
    if type(number) is not int or not isinstance(login, str):
        raise ValueError("no account")
    return Account(
        subject=f"github:{number}",
        provider="github",
        name=login,
        email=_primary(emails),
        claims={"login": login} | ({"created_at": created} if isinstance(created, str) else {}),
    )


def _primary(emails: Any) -> str | None:
    """The primary address, where GitHub has verified it."""
    for each in emails if isinstance(emails, list) else ():
        if isinstance(each, dict) and each.get("primary") is True and each.get("verified") is True:
            email = each.get("email")
            return email.lower() if isinstance(email, str) else None
    return None


def _refused(error: object) -> str:
    if error == "incorrect_client_credentials":
        return (
            "GitHub does not accept the portal's client id and secret. An admin must look at "
            "sign_in.github in portal.yaml."
        )
    return "GitHub did not accept this sign-in, which may have taken too long. Sign in again."


class GithubSource:
    """Knows who belongs to organizations and teams.

    People are known by their numeric id, as they may rename themselves and others take the name
    they had; so each batch asks for their logins first.

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
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api = api_url
        self._token = token
        self._seconds = seconds
        self._clock = clock
        self._paused_until = 0.0
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def answers(self, questions: Sequence[Question]) -> Mapping[Question, bool]:
        """Answer ``("org", ORG, ID)`` and ``("team", ORG, TEAM, ID)``.

        Raises:
            SourceUnavailable: GitHub answers none of them.
        """
        import httpx2

        accounts: dict[str, list[Question]] = {}
        for question in questions:
            accounts.setdefault(str(question.key[-1]), []).append(question)
        headers = dict(_HEADERS)
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
        except TimeoutError:  # what is answered by now counts
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
        """What an account is called now, or None where it is no more."""
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
            self._paused_until = self._clock() + min(max(pause, 1.0), LONGEST_PAUSE)
            raise SourceUnavailable(self._pause())
        return response

    def _pause(self) -> str:
        until = datetime.fromtimestamp(self._paused_until, UTC)
        return f"GitHub takes no more questions until {until:%H:%M:%S} UTC."


class _Batch:
    """What is known of a batch so far, and why the rest is not."""

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
    """The seconds for which GitHub wants to be left alone, or None."""
    if response.status_code not in {403, 429}:
        return None
    headers = response.headers
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    if headers.get("x-ratelimit-remaining") == "0":
        reset = headers.get("x-ratelimit-reset", "")
        return float(reset) - now if reset.isdecimal() else 60.0
    return 60.0 if response.status_code == 429 else None
