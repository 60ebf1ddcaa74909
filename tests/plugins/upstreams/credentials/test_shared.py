"""The operator's credential, or none: an admin is told where a server refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.responses import JSONResponse

from plugins.upstreams.credentials.credential import EVERYBODY, REFUSED_TOLD_SECONDS, Shared
from plugins.upstreams.wire import Unauthorized
from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.portals import portal_before, until_offered

HEADER = {"Authorization": "Bearer ${FAR_TOKEN}"}


class Sparing:
    """Lets everybody list, and refuses calls for want of a scope."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        if b"tools/call" in message.get("body", b""):
            told = {"www-authenticate": 'Bearer error="insufficient_scope", scope="reap"'}
            await JSONResponse({"error": "insufficient_scope"}, 403, told)(scope, receive, send)
            return
        waiting = [message]

        async def again() -> Any:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, again, send)


@contextmanager
def sparing_server(era: str) -> Iterator[Far]:
    with far_server(era, around=Sparing) as far:
        yield far


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_credential_with_too_few_rights_is_the_admins_affair(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_TOKEN", "s3cret")
    with sparing_server(era) as far:
        async with portal_before(far.url, credential={"header": HEADER}) as portal:
            await until_offered(portal, "far__add")
            answer = await portal.call("far__add", {"a": 1, "b": 2}, tier="open")
            assert answer.is_error
            assert "An admin of this portal has to look at credential of far" in answer.text
            health = (await portal.health())["plugins"]["upstreams"]
            assert health["state"] == "degraded"
            assert (
                "far has refused a request with its credential in portal.yaml "
                "(HTTP 403, insufficient_scope)." in health["detail"]
            )
            assert "s3cret" not in str(health)


async def test_what_was_refused_long_ago_is_told_no_more() -> None:
    now = 1000.0
    shared = Shared({}, lambda: now)
    assert shared.trouble == ""
    assert not await shared.refused(EVERYBODY, Unauthorized("It wants a credential.", 401))
    assert shared.trouble == "has refused a request without a credential (HTTP 401)"
    now += REFUSED_TOLD_SECONDS
    assert shared.trouble == ""
