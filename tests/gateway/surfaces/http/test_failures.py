"""What is answered where no surface answers."""

from __future__ import annotations

import pytest

from gateway.testing import open_test_portal
from tests.journeys import garden

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def test_a_browser_at_no_page_of_ours_gets_a_page() -> None:
    async with open_test_portal(garden) as portal:
        answer = await portal.get("/no/such/page", headers=BROWSER)
    assert answer.status_code == 404
    assert "There is no such page" in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(("path", "status"), [("/no/such/page", 404), ("/token", 405)])
async def test_a_program_gets_json_with_the_request_id(path: str, status: int) -> None:
    async with open_test_portal(garden) as portal:
        answer = await portal.get(path)
    assert answer.status_code == status
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert answer.json()["error"]["message"].endswith(f"GET {path}")


async def test_what_the_address_says_is_text_on_the_page() -> None:
    async with open_test_portal(garden) as portal:
        answer = await portal.get("/<script>alert(1)</script>", headers=BROWSER)
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("path", ["/mcp", "/members/mcp", "/mcp/garden"])
async def test_a_browser_at_an_address_for_clients_is_led_to_the_first_page(path: str) -> None:
    async with open_test_portal(garden) as portal:
        answer = await portal.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["location"]) == (303, "http://localhost/")
