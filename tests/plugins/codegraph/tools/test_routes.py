"""HTTP routes: what serves them, and who requests them from here and from other repositories."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.codegraph.portal import world

SERVER = {
    "server.py": b"""app = make()


@app.get("/users/{name}")
def show_user(name):
    return name


@app.get("/users/me")
def show_me():
    return show_user("me")


@app.delete("/users/{name}")
def remove_user(name): ...


def unserved(): ...
""",
    "check.py": b"""import requests


def look(name):
    requests.get(f"{BASE}/users/{name}")
""",
}
CLIENT = {
    "client.ts": b"""export async function load(name: string) {
  await fetch(`/api/users/${name}`, { method: "DELETE" });
  await fetch("/users/me");
  await fetch("https://elsewhere.example/users/me");
}
""",
}


async def test_a_route_is_listed_with_its_requests_from_every_repository(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("server", SERVER)
        await portal.index("client", CLIENT)
        routes = (await portal.call("get_routes", repo="server"))["data"]
        found = {
            f"{each['method']} {each['path']} {each['name']}": {
                f"{one['repo']}/{one['at']} {one.get('host')}" for one in each["requests"]
            }
            for each in routes
        }
        assert found == {
            "GET /users/* show_user": {"portal-server/check.py:5 None"},
            "GET /users/me show_me": {
                "portal-client/client.ts:3 None",
                "portal-client/client.ts:4 elsewhere.example",
            },
            "DELETE /users/* remove_user": {"portal-client/client.ts:2 None"},
        }
        some = (await portal.call("get_routes", repo="server", path="/users/me"))["data"]
        assert [each["name"] for each in some] == ["show_me"]


async def test_callers_and_callees_cross_http_and_repositories(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("server", SERVER)
        await portal.index("client", CLIENT)
        callers = await portal.call("get_callers", name="remove_user", repo="server")
        assert [
            (each["name"], each["repo"], each["through"], each["at"], each["strategy"])
            for each in callers["data"]
        ] == [("load", "portal-client", "DELETE /users/*", "client.ts:2", "url")]
        assert callers["data"][0]["source"].startswith("export async function load")
        callees = await portal.call("get_callees", name="load", repo="client")
        assert {(each["name"], each["repo"]) for each in callees["data"]} == {
            ("remove_user", "portal-server"),
            ("show_me", "portal-server"),
        }
        sure = await portal.call(
            "get_callers", name="remove_user", repo="server", min_confidence=0.9
        )
        assert not sure["data"]
        impact = await portal.call("analyze_impact", name="remove_user", repo="server")
        assert impact["meta"]["requests"] == ["portal-client/client.ts:2 load: DELETE /users/*"]


async def test_what_serves_a_route_is_never_completely_known_nor_safe_to_delete(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("server", SERVER)
        callers = await portal.call("get_callers", name="remove_user")
        complete = callers["meta"]["completeness"]
        assert complete["state"] == "incomplete"
        assert complete["routes"] == ["DELETE /users/*"]
        assert "it serves DELETE /users/*" in complete["why"]
        verdict = await portal.call("safe_to_delete", name="remove_user")
        assert verdict["verdict"] == "unsure"
        other = await portal.call("get_callers", name="unserved")
        assert other["meta"]["completeness"]["state"] == "complete"


async def test_imports_from_other_repositories_are_told(
    tmp_path: Path, codegraph_file: Path
) -> None:
    library = {"acme/lib.py": b"def shared(): ...\n\n\ndef alone(): ...\n"}
    user = {
        "one.py": b"from acme.lib import shared\n\nshared()\n",
        "two.py": b"import acme.lib\n\nacme.lib.shared()\n",
        "three.py": b"import acme.lib\n",
    }
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("library", library)
        await portal.index("user", user)
        for tool in ("get_callers", "find_references", "analyze_impact", "safe_to_delete"):
            used = await portal.call(tool, name="shared", repo="library")
            assert used["meta"]["elsewhere"] == ["portal-user/one.py:1", "portal-user/two.py:3"], (
                tool
            )
            alone = await portal.call(tool, name="alone", repo="library")
            assert alone["meta"].get("elsewhere") is None, tool
        assert used["verdict"] == "unsure"


async def test_who_may_not_see_a_repository_hears_nothing_of_its_requests_and_imports(
    tmp_path: Path, codegraph_file: Path
) -> None:
    library = {**SERVER, "acme/lib.py": b"def shared(): ...\n"}
    hidden = {**CLIENT, "one.py": b"from acme.lib import shared\n"}
    async with world(tmp_path, None, codegraph_file) as portal:
        await portal.index("server", library)
        await portal.index("hidden", hidden, people=frozenset({"alice"}))
        for tool, name in (
            ("get_routes", {}),
            ("get_callers", {"name": "remove_user"}),
            ("analyze_impact", {"name": "remove_user"}),
            ("get_callers", {"name": "shared"}),
            ("find_references", {"name": "shared"}),
        ):
            assert "hidden" not in str(await portal.call(tool, repo="server", **name)), tool
            assert "hidden" in str(await portal.call(tool, "alice", repo="server", **name)), tool
