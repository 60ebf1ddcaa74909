"""A proxy that nobody has told the portal of is noticed, once."""

import httpx2
import pytest
from structlog.testing import capture_logs

from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.config.portal_keys import PortalConfig
from gateway.surfaces.http.proxies import NOTICE, UnknownProxies

PUBLIC = {"public_url": "https://porch.example.org"}


def request(client="192.0.2.1", kind="http", **headers):
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": kind, "client": (client, 1), "headers": raw}


def seen(config, *requests):
    proxies = UnknownProxies(PortalConfig.model_validate(config))
    for each in requests:
        proxies.look(each)
    return list(proxies.notices())


@pytest.mark.parametrize("header", ["x_forwarded_for", "forwarded"])
def test_it_is_noticed_once_and_without_what_was_said(header):
    with capture_logs() as lines:
        both = [request(**{header: "198.51.100.9"}), request("192.0.2.2", **{header: "x"})]
        assert seen(PUBLIC, *both) == [NOTICE]
    assert [line["event"] for line in lines] == ["unknown_proxy"]
    assert "198.51.100.9" not in str(lines)
    assert "192.0.2" not in str(lines)


def test_without_such_a_header_there_is_nothing_to_notice():
    assert seen(PUBLIC, request(), request(via="1.1 somewhere", x_real_ip="x")) == []
    assert seen(PUBLIC, {"type": "lifespan"}) == []


def test_the_portals_own_user_is_no_proxy():
    assert seen(PUBLIC, {**request(x_forwarded_for="x"), "porch.local": True}) == []


@pytest.mark.parametrize("config", [{}, {"public_url": "http://localhost:8321"}])
def test_a_portal_for_this_machine_does_not_look(config):
    assert seen(config, request(x_forwarded_for="198.51.100.9")) == []


def test_a_trusted_proxy_is_told_from_another():
    config = {**PUBLIC, "trusted_proxies": ["10.0.0.0/8"]}
    believed = request("198.51.100.9", x_forwarded_for="203.0.113.5, 198.51.100.9")
    assert seen(config, believed) == []
    assert seen(config, request("172.16.0.1", x_forwarded_for="198.51.100.9")) == [NOTICE]


async def test_the_health_board_tells_the_admin(tmp_path):
    (tmp_path / "portal.yaml").write_text("public_url: https://porch.example.org")
    app = PortalApp(load_portal(tmp_path), tmp_path / "data", modules=[])
    async with app.opened() as running:
        transport = httpx2.ASGITransport(app=app, client=("192.0.2.1", 50000))
        async with httpx2.AsyncClient(transport=transport, base_url=PUBLIC["public_url"]) as http:
            assert NOTICE not in (await running.board.report()).notices
            answer = await http.get("/", headers={"x-forwarded-for": "198.51.100.9"})
            assert answer.status_code == 200
            assert (await running.board.report()).notices.count(NOTICE) == 1
