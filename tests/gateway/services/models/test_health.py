"""What an admin is told of a provider before anybody asks it a question."""

from __future__ import annotations

import socket

import pytest

from gateway.services.models.service import ModelService
from tests.gateway.services.models.conftest import Opened, Verdict, config
from tests.servers.openai_compatible import KEY, OpenAICompatible, Reply, failing, page, throttled

pytestmark = pytest.mark.one_database


async def told(service: ModelService) -> str:
    await service.examine()
    return " ".join(service.notices())


async def test_a_provider_that_is_well_is_no_matter(
    opened: Opened, server: OpenAICompatible
) -> None:
    server.models = ["m", "n"]
    assert await told(opened()) == ""
    assert not server.asked, "to look costs nothing"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (failing(401), "refuses the portal's key"),
        (failing(403), "refuses the portal's key"),
        (page(), "answers text/html"),
        (throttled(), "takes no calls for now"),
        (failing(503), "fails (HTTP 503)"),
    ],
)
async def test_what_is_wrong_with_a_provider_is_said_with_what_to_do(
    opened: Opened, server: OpenAICompatible, reply: Reply, said: str
) -> None:
    server.listing = reply
    service = opened()
    assert said in await told(service)
    server.listing = None
    assert await told(service) == "", "what was mended is no more said"


@pytest.mark.parametrize("reply", [failing(404), Reply(body="{}"), Reply(body='{"data": 1}')])
async def test_a_provider_without_a_list_of_models_may_be_well(
    opened: Opened, server: OpenAICompatible, reply: Reply
) -> None:
    server.listing = reply
    assert await told(opened()) == ""


async def test_a_model_that_is_not_there_is_named_with_those_that_are(
    opened: Opened, server: OpenAICompatible
) -> None:
    server.models = ["gpt-5-mini", "gpt-5"]
    service = opened(simple="local/gpt-5-mimi", complex=None, chat=None)
    assert "has no model gpt-5-mimi. It has gpt-5-mini" in await told(service)


async def test_an_address_where_nobody_is_says_so(opened: Opened) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert f"cannot be reached at {url}" in await told(opened(config(url)))


async def test_a_key_that_is_not_there_is_said_before_anybody_looks(
    opened: Opened, server: OpenAICompatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = opened(provider={"key": "env:PORCH_TEST_KEY"})
    [notice] = service.notices()
    assert "PORCH_TEST_KEY is not set" in notice
    monkeypatch.setenv("PORCH_TEST_KEY", KEY)
    assert await told(service) == ""


async def test_without_the_library_it_is_said_how_to_install_it(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.services.models.service.find_spec", lambda name: None)
    service = opened()
    [notice] = service.notices()
    assert "`make models`" in notice
    models = service.for_owner("notes")
    assert not models.available("simple")
    with pytest.raises(Exception, match="make models"):
        await models.generate(Verdict, "?", "simple", caller=None, operation="judge")
