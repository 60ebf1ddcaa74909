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


@pytest.mark.timeout(600)
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
        callers = await page(follow(read, "1 caller"))
        assert "show_user" in callers
        handler = await page(follow(callers, "show_user"))
        impact = await page(follow(handler, "what a change breaks"))
        assert "look: GET /users/*" in impact
        over_http = await page(follow(handler, r"\d callers?"))
        assert "through GET /users/*" in over_http
        assert "it serves GET /users/*" in over_http
        assert "look" in await page("/codegraph/routes")
        context = await page(follow(handler, "why it exists"))
        assert "It serves GET /users/*." in context
        assert "No index that is kept changed it." in context
        system = await page(follow(context, "the whole system"))
        assert "<svg" in system
        assert "1 feature of town" in system
        feature = await page(follow(system, "users"))
        code = await page(follow(feature, "the code"))
        assert "show_user" in code
        for name in ("function", "callers", "callees", "impact"):
            assert "Search for" in await page(f"/codegraph/{name}")


@pytest.mark.timeout(600)
async def test_the_health_of_a_repository_is_a_page_with_evidence(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    branches = "".join(f"    if a == {each}:\n        return {each}\n" for each in range(20))
    dead = "".join(f"\n\ndef _dead_{each}():\n    return 1\n" for each in range(12))
    (root / "a.py").write_text(f"import b\n\n\ndef used(a):\n{branches}{dead}")
    (root / "b.py").write_text("import a\n\na.used(1)\n")
    declared = [{"name": "shop", "path": str(root), "tier": "open"}]
    config = {"plugins": {"codegraph": {"repositories": declared}}}
    async with open_test_portal(plugin, config=config) as portal:
        http = portal.http("open")
        overview = (await http.get("/codegraph/repository?repo=shop")).text
        assert "How healthy it is" in overview
        answer = await http.get("/codegraph/health?repo=shop")
        assert answer.status_code == 200, answer.text
        assert "_dead" in answer.text
        assert "a.py:1 imports b.py" in answer.text
        assert "complexity 21" in answer.text
        assert "How the score comes about" in answer.text
        assert "1 circle at import time" in answer.text
        assert 'title: "No circular imports"' in answer.text
        more = re.search(r'<a href="([^"]+)"[^>]*>2 more</a>', answer.text)
        assert more, answer.text
        rest = await http.get(unescape(more[1]).removeprefix("http://localhost"))
        assert "_dead_11" in rest.text
        assert "Complexity hotspots" not in rest.text


@pytest.mark.timeout(600)
async def test_what_changed_is_a_page_that_stays_up_to_date(tmp_path: Path) -> None:
    root, data = tmp_path / "town", tmp_path / "data"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    declared = [{"name": "town", "path": str(root), "tier": "open"}]
    config = {"plugins": {"codegraph": {"repositories": declared}}}
    async with open_test_portal(plugin, config=config, data_dir=data) as portal:
        first = (await portal.http("open").get("/codegraph/activity")).text
        assert "The first index: 2 files" in first
    (root / "server.py").write_text(FILES["server.py"].replace('"alice"', '"<b>bob</b>"'))
    (root / "more.py").write_text("MOST = 1\n\n\ndef more(a):\n    return a + MOST\n")
    async with open_test_portal(plugin, config=config, data_dir=data) as portal:
        http = portal.http("open")
        overview = (await http.get("/codegraph/repository?repo=town")).text
        link = re.search(r'<a class="choice" href="([^"]+)"[^>]*>What changed</a>', overview)
        assert link, overview
        page = (await http.get(unescape(link[1]).removeprefix("http://localhost"))).text
        assert "2 files: 3 added, 1 updated." in page
        assert page.index("2 files: 3 added") < page.index("The first index")
        assert "&lt;b&gt;bob&lt;/b&gt;" in page
        assert 'data-live="feed"' in page
        assert 'data-refresh="5"' in page
        only = (await http.get("/codegraph/activity?repo=town&change=updated")).text
        assert "known" in only
        assert "more.py" not in only
    (root / "more.py").rename(root / "moved.py")
    async with open_test_portal(plugin, config=config, data_dir=data) as portal:
        page = (await portal.http("open").get("/codegraph/activity")).text
        assert "1 more is renamed only with what contains it" in page
        assert "0 callers" not in page
        file, carried = page.index("more.py at more.py:1"), page.index("renamed only")
        assert file < carried < page.index("3 added")
