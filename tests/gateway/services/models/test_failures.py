"""Whatever a provider does, its caller gets a typed failure, and no word of the provider's."""

from __future__ import annotations

import asyncio
import json
import socket
import threading

import pytest

from gateway.contract import ModelFailed
from gateway.observability.redaction import MARK, redactor
from gateway.services.database.service import OwnedDatabase
from gateway.services.models.service import ModelService
from tests.gateway.services.models.conftest import (
    KEY_OF_ALL,
    Opened,
    Verdict,
    config,
    every_api,
    rows,
)
from tests.servers.anthropic_compatible import OVERLOADED, AnthropicCompatible
from tests.servers.openai_compatible import (
    KEY,
    OpenAICompatible,
    Reply,
    ToolCall,
    failing,
    page,
    throttled,
)

pytestmark = pytest.mark.one_database

WHOLE = json.dumps({"id": "1", "choices": []})
SECRET = "what only the provider knows"

FAILURES = {
    "another shape": (Reply(value={"mood": ["glad"], "score": None}), "invalid_answer"),
    "no value": (Reply(text=""), "invalid_answer"),
    "free text": (Reply(text="I am glad."), "invalid_answer"),
    "arguments that are no JSON": (
        Reply(calls=[ToolCall("answer", '{"mood": "gl')]),
        "invalid_answer",
    ),
    "another tool": (Reply(calls=[ToolCall("delete_all", {"mood": "x"})]), "invalid_answer"),
    "cut by length": (Reply(finish="length"), "invalid_answer"),
    "no choices": (Reply(body=WHOLE), "invalid_answer"),
    "a list": (Reply(body="[]"), "invalid_answer"),
    "no JSON": (Reply(body="{"), "provider_down"),
    "a broken connection": (Reply(cut=30), "provider_down"),
    "a page": (page(), "misconfigured"),
    "nothing": (Reply(body="", media="text/plain"), "misconfigured"),
    "a refusal": (Reply(refusal="I would rather not."), "refused"),
    "a filter": (Reply(finish="content_filter"), "refused"),
    "throttled": (throttled("3600"), "throttled"),
    "throttled without a time": (throttled(None), "throttled"),
    "used up": (failing(429, "insufficient_quota", SECRET), "misconfigured"),
    "broken": (failing(500, message=SECRET), "provider_down"),
    "overloaded": (failing(503, message=SECRET), "provider_down"),
    "a gateway's page": (Reply(status=502, body="<html>", media="text/html"), "provider_down"),
    "overloaded as Anthropic says it": (OVERLOADED, "provider_down"),
    "not allowed": (failing(403, message=SECRET), "misconfigured"),
    "no such model": (failing(404, "model_not_found", SECRET), "misconfigured"),
    "a rejected request": (failing(400, "invalid_request_error", SECRET), "misconfigured"),
    "too long": (failing(400, "context_length_exceeded", SECRET), "too_long"),
    "moved": (Reply(status=302, body="", headers={"location": "/elsewhere"}), "provider_down"),
}


async def ask(service: ModelService) -> Verdict:
    answer = await service.for_owner("notes").generate(
        Verdict, "?", "simple", caller=None, operation="judge"
    )
    return answer.value


@every_api
@pytest.mark.parametrize("what", FAILURES)
async def test_each_failure_is_typed_and_metered(
    opened: Opened,
    server: OpenAICompatible,
    database: OwnedDatabase,
    what: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reply, code = FAILURES[what]
    server.then(reply, reply)
    with pytest.raises(ModelFailed) as failed:
        await ask(opened())
    assert failed.value.code == code
    assert {row["outcome"] for row in await rows(database)} == {code}
    assert len(await rows(database)) == len(server.asked)
    written = capsys.readouterr()
    assert SECRET not in failed.value.message + written.out + written.err


@every_api
async def test_a_throttled_provider_says_when_and_is_not_asked_meanwhile(
    opened: Opened, server: OpenAICompatible
) -> None:
    service = opened()
    server.then(throttled("3600"))
    for _ in range(3):
        with pytest.raises(ModelFailed) as failed:
            await ask(service)
        assert failed.value.code == "throttled"
        assert failed.value.retry_after_s is not None
        assert 3500 < failed.value.retry_after_s <= 3600
        assert failed.value.details == {"retry_after_s": failed.value.retry_after_s}
    assert len(server.asked) == 1
    [notice] = service.notices()
    assert "takes no more calls" in notice


@every_api
async def test_an_answer_that_does_not_come_is_a_timeout(
    opened: Opened, server: OpenAICompatible
) -> None:
    asked = threading.Event()
    server.then(Reply(hold=asked))
    with pytest.raises(ModelFailed) as failed:
        await ask(opened(provider={"timeout": "200ms"}))
    asked.set()
    assert failed.value.code == "timeout"


async def test_a_server_that_is_away_is_told_at_once_and_found_when_it_is_back(
    opened: Opened, database: OwnedDatabase
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    service = opened(config(f"http://127.0.0.1:{port}/v1"))
    for _ in range(3):
        with pytest.raises(ModelFailed) as failed:
            await ask(service)
        assert failed.value.code == "provider_down"
    assert len(await rows(database)) == 1
    [notice] = service.notices()
    assert "model provider local has not answered" in notice
    with OpenAICompatible().served(port):
        await service.engine.providers["local"].breaker._trying  # type: ignore[misc]
        assert await ask(service) == Verdict(mood="x", score=1)
    assert not list(service.notices())


@every_api
async def test_what_passes_in_a_moment_is_tried_again(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase
) -> None:
    server.then(failing(500), throttled("0"))
    assert await ask(opened(retries=2)) == Verdict(mood="x", score=1)
    assert [row["outcome"] for row in await rows(database)] == ["provider_down", "throttled", "ok"]


@pytest.mark.parametrize("reply", [failing(401), failing(503), throttled("3600"), page()])
async def test_the_fallback_is_asked_where_a_provider_is_away(
    opened: Opened, server: OpenAICompatible, database: OwnedDatabase, reply: Reply
) -> None:
    with OpenAICompatible() as other:
        section = config(server.url).model_dump(exclude_none=True)
        section["providers"]["spare"] = {"kind": "compatible", "url": other.url}
        service = opened(type(config(server.url)).model_validate(section | {"fallback": "spare/s"}))
        server.then(reply)
        answer = await service.for_owner("notes").generate(
            Verdict, "?", "simple", caller=None, operation="judge"
        )
    assert (answer.provenance.provider, answer.provenance.model) == ("spare", "s")
    assert [row["provider"] for row in await rows(database)] == ["local", "spare"]


@every_api
@pytest.mark.parametrize("what", ["a refusal", "another shape"])
async def test_no_other_model_is_asked_for_what_a_model_has_answered(
    opened: Opened, server: OpenAICompatible, what: str
) -> None:
    section = config(server.url).model_dump(exclude_none=True)
    service = opened(type(config(server.url)).model_validate(section | {"fallback": "local/s"}))
    server.then(FAILURES[what][0], FAILURES[what][0])
    with pytest.raises(ModelFailed):
        await ask(service)
    assert {asked.body["model"] for asked in server.asked} == {"m"}


async def test_a_wrong_key_is_the_admins_to_mend_and_is_never_repeated(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "sk-wrong-9876543210zyxwvutsrqponm"
    monkeypatch.setenv("PORCH_TEST_KEY", wrong)
    with OpenAICompatible(key=KEY) as server:
        service = opened(config(server.url, provider={"key": "env:PORCH_TEST_KEY"}))
        with pytest.raises(ModelFailed) as failed:
            await ask(service)
        [notice] = service.notices()
        written = capsys.readouterr()
        assert wrong not in failed.value.message + notice + written.out + written.err
        assert "refuses the portal's key" in notice
        monkeypatch.setenv("PORCH_TEST_KEY", KEY)
        assert await ask(service) == Verdict(mood="x", score=1)
    assert not list(service.notices())
    assert redactor.text(f"it was {wrong}") == f"it was {MARK}"


@every_api
async def test_a_wrong_key_of_anthropics_is_the_admins_to_mend(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AnthropicCompatible(key=KEY) as server:
        service = opened(config(server.url))
        with pytest.raises(ModelFailed) as failed:
            await ask(service)
        [notice] = service.notices()
        assert failed.value.code == "misconfigured"
        assert "refuses the portal's key" in notice
        monkeypatch.setenv(KEY_OF_ALL, KEY)
        assert await ask(service) == Verdict(mood="x", score=1)


async def test_a_model_that_takes_no_format_is_the_admins_to_mend(opened: Opened) -> None:
    with AnthropicCompatible() as server:
        service = opened(config(server.url, provider={"structure": "schema"}))
        with pytest.raises(ModelFailed) as failed:
            await ask(service)
    assert failed.value.code == "misconfigured"
    assert "set structure" in failed.value.message
    assert server.asked == []


async def test_a_key_that_is_not_there_is_named(opened: Opened, server: OpenAICompatible) -> None:
    service = opened(config(server.url, provider={"key": "env:PORCH_TEST_NO_KEY"}))
    with pytest.raises(ModelFailed) as failed:
        await ask(service)
    assert failed.value.code == "misconfigured"
    [notice] = service.notices()
    assert "PORCH_TEST_NO_KEY" in notice


@every_api
async def test_as_many_are_asked_at_once_as_the_admin_allows(
    opened: Opened, server: OpenAICompatible
) -> None:
    service = opened(provider={"concurrency": 3})
    held = threading.Event()
    server.rule(lambda body: Reply(hold=held))
    asking = asyncio.gather(*(ask(service) for _ in range(12)))
    async with asyncio.timeout(60):
        while len(server.asked) < 3:  # noqa: ASYNC110  (another thread has no event for it)
            await asyncio.sleep(0.005)
    held.set()
    await asking
    assert (server.at_once, len(server.asked)) == (3, 12)


@every_api
async def test_secrets_do_not_leave_the_portal(opened: Opened, server: OpenAICompatible) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    await (
        opened()
        .for_owner("notes")
        .generate(
            Verdict,
            f"GITHUB_TOKEN={token} and the rest",
            "simple",
            caller=None,
            operation="judge",
            instructions=f"Mind {token}.",
        )
    )
    [asked] = server.asked
    assert token not in json.dumps(asked.body)
    assert "and the rest" in asked.texts()
