"""The code graph's pages: code is found, read, and followed to its callers and over HTTP."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from gateway.testing import open_test_portal
from plugins.codegraph import plugin

FILES = {
    "server.py": '@app.get("/users/{name}")\ndef show_user(name):\n    return known(name)\n\n\n'
    'def known(name):\n    """Whether anybody has <this> name."""\n    return name == "alice"\n',
    "client.py": 'import requests\n\n\ndef look(name):\n    requests.get(f"{BASE}/users/{name}")\n',
}


@pytest.mark.timeout(180)
async def test_code_is_found_read_and_followed(tmp_path: Path) -> None:
    root = tmp_path / "town"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    declared = [{"name": "town", "path": str(root), "tier": "open"}]
    config = {"plugins": {"codegraph": {"repositories": declared}}}
    async with open_test_portal(plugin, config=config) as portal:
        http = portal.http("open")

        async def page(address: str) -> str:
            answer = await http.get(address)
            assert answer.status_code == 200, answer.text
            return answer.text

        def follow(text: str, name: str) -> str:
            found = re.search(rf'<a href="([^"]+)"[^>]*>{name}</a>', text)
            assert found, text
            return unescape(found[1]).removeprefix("http://localhost")

        found = await page("/codegraph/search?query=known")
        read = await page(follow(found, "known"))
        assert "Whether anybody has &lt;this&gt; name." in read
        callers = await page(follow(read, "1 callers"))
        assert "show_user" in callers
        handler = await page(follow(callers, "show_user"))
        impact = await page(follow(handler, "what a change breaks"))
        assert "look: GET /users/*" in impact
        over_http = await page(follow(handler, r"\d callers"))
        assert "through GET /users/*" in over_http
        assert "it serves GET /users/*" in over_http
        assert "look" in await page("/codegraph/routes")
        for name in ("function", "callers", "callees", "impact"):
            assert "Search for" in await page(f"/codegraph/{name}")
