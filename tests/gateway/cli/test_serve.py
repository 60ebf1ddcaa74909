"""``porch serve`` in a process of its own."""

from __future__ import annotations

import socket
import uuid
from pathlib import Path

import httpx2
import pytest

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import PAGE, Run, served

TOKEN = "a-secret-of-the-tests"


def test_it_says_what_to_paste_and_when_it_is_ready(place: Path) -> None:
    with served(place) as (url, printed):
        text = "\n".join(printed)
    assert f"claude mcp add --transport http porch {url}/mcp" in text
    assert f"Open in a browser to sign in  {url}" in text
    assert 'call search_knowledge query="who may use what"' in text
    assert "knowledge: ready." in text
    assert printed[-1] == "Stopped."


def test_a_service_manager_that_waits_for_it_hears_that_it_answers(place: Path) -> None:
    name = f"porch-{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        manager.settimeout(60)
        with served(place, NOTIFY_SOCKET=f"@{name}") as (url, _):
            assert manager.recv(64) == b"READY=1"
            assert httpx2.get(f"{url}/healthz").status_code == 200


@pytest.mark.parametrize("named", ["other", "~/other"])
def test_another_content_directory_takes_the_place_of_the_sources(place: Path, named: str) -> None:
    other = place / "other"
    other.mkdir()
    (other / "bread.md").write_text(PAGE.format(title="Bread", type="pattern"))
    (other / "as-it-is.md").write_text("# Ordinary markdown")
    (other / "private.md").write_text("---\npublish: false\n---\n# Not for others")
    (other / "soon.md").write_text("---\ndraft: true\n---\n# Not yet")
    with served(place, "--content", named, HOME=str(place)) as (url, _):
        listed = httpx2.get(f"{url}/api/v1/entries").json()
    assert sorted(each["id"] for each in listed["data"]) == ["as-it-is", "bread"]


def test_it_runs_without_any_configuration(tmp_path: Path) -> None:
    with served(tmp_path) as (url, _):
        assert httpx2.get(f"{url}/healthz").status_code == 200
    assert (tmp_path / "data" / "porch.db").exists()


def test_static_tokens_call_for_a_warning_that_does_not_show_them(place: Path) -> None:
    with served(place, PORCH_STATIC_TOKENS=f"members:{TOKEN}") as (url, printed):
        text = "\n".join(printed)
        good = {"authorization": f"Bearer {TOKEN}"}
        assert httpx2.get(f"{url}/api/v1/entries", headers=good).status_code == 200
        bad = {"authorization": f"Bearer {TOKEN}x"}
        assert httpx2.get(f"{url}/api/v1/entries", headers=bad).status_code == 401
    assert "Warning: PORCH_STATIC_TOKENS is set." in text
    assert TOKEN not in text


def test_a_second_portal_on_the_same_data_is_refused(place: Path, porch: Run) -> None:
    with served(place):
        result = porch("serve", "--port", "0")
    assert result.exit_code == EXIT.CONFIG
    assert "holds this data directory" in result.output


def test_a_token_without_a_tier_is_a_configuration_error(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_STATIC_TOKENS", TOKEN)
    result = porch("serve")
    assert result.exit_code == EXIT.CONFIG
    assert "PORCH_STATIC_TOKENS: pair 1 is not TIER:TOKEN" in result.output
    assert TOKEN not in result.output
