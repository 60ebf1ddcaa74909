"""A newcomer adds checkouts, connects a client, and asks who calls what and what breaks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from auth.hat_ids import parse
from tests.chain.anvil import Chain
from tests.journeys.balancer import Member
from tests.journeys.codes import MARKET, ORCHARD, checkout, git, unsent, write
from tests.journeys.community import Community, community, rpc
from tests.journeys.inspecting import failed, inspected
from tests.journeys.member import plain_client, said
from tests.journeys.world import ERAS as SDK_ERAS
from tests.journeys.world import HAT, eventually, settings
from tests.servers import forked

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

ERAS = ["legacy", "modern"]
CLOSED = {name: {"enabled": False} for name in ("skills_repo", "workflows")}
CONFIG = {
    "plugins": CLOSED,
    "limits": {"calls": "none", "tools": {"get_project_stats": "2 in 60s"}},
}
TIERS = {
    "access": {"public": {"any_of": ["signed_in"]}, "members": {"any_of": [{"hat": HAT}]}},
    "items": {"codegraph": "open"},
}


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory, chain: Chain) -> Iterator[Community]:
    """A portal beside which a newcomer has added their checkouts."""
    root = tmp_path_factory.mktemp("village")
    with rpc(chain.url) as reads, community(root, {**settings(reads), **CONFIG}, TIERS) as portal:
        checkout(root / "orchard", ORCHARD)
        checkout(root / "market", MARKET)
        checkout(root / "vault", {"safe.py": "def unlock():\n    pass\n"})
        added(portal, "orchard")
        added(portal, "market")
        while "get_callers" not in offered(portal, root):  # it looks every two seconds
            pass
        yield portal


def offered(portal: Community, place: Path) -> str:
    """What tools the portal offers, as text."""
    return json.dumps(
        inspected(f"{portal.url}/mcp", "modern", place, None, "--method", "tools/list")
    )


def porch(portal: Community, *words: str) -> subprocess.CompletedProcess[str]:
    """What a command says that is given in the portal's directory."""
    return forked.run(("codegraph", *words), portal.root, dict(os.environ), timeout=100)


def added(portal: Community, *words: str) -> None:
    """Add a repository."""
    done = porch(portal, "add", *words)
    assert done.returncode == 0, done.stdout + done.stderr


class Asking:
    """Somebody's client: the Inspector."""

    def __init__(self, portal: Community, era: str, place: Path, token: str | None = None) -> None:
        self._given = (f"{portal.url}/mcp", era, place, token)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = inspected(*self._given, *_call(tool, arguments))
        assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
        found: dict[str, Any] = answer["structuredContent"]
        return found

    def refusal(self, tool: str, **arguments: Any) -> str:
        return failed(*self._given, *_call(tool, arguments))


def _call(tool: str, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    given = ["--tool-arg", *(f"{k}={v}" for k, v in arguments.items())] if arguments else []
    return ("--method", "tools/call", "--tool-name", tool, *given)


@pytest.fixture(params=ERAS)
def newcomer(request: pytest.FixtureRequest, portal: Community, tmp_path: Path) -> Asking:
    return Asking(portal, str(request.param), tmp_path)


def names(answer: Mapping[str, Any]) -> list[str]:
    return [each["name"] for each in answer["data"]]


def files(answer: Mapping[str, Any]) -> list[str]:
    return [each["file"] for each in answer["data"]]


def test_a_python_checkout_answers_who_calls_what_breaks_and_where_it_is(newcomer: Asking) -> None:
    asked = {"repo": "orchard", "name": "weigh", "kind": "function"}
    callers = newcomer.call("get_callers", **asked)
    assert sorted(names(callers)) == ["Press.squeeze", "sell"]
    assert {each["at"] for each in callers["data"]} == {
        "src/orchard/press.py:4",
        "src/orchard/shop.py:6",
    }
    assert callers["meta"]["completeness"]["state"] == "complete"
    broken = newcomer.call("analyze_impact", **asked)
    assert {"src/orchard/press.py", "src/orchard/shop.py"} < set(files(broken))
    assert "tests/test_shop.py::test_sell" in broken["meta"]["tests"]
    assert "src/orchard/anchor.py" not in files(broken)
    where = newcomer.call("semantic_search", repo="orchard", query="turn apples into juice")
    assert names(where)[0] == "Press.squeeze"


def test_a_typescript_monorepo_answers_across_its_packages(newcomer: Asking) -> None:
    callers = newcomer.call("get_callers", repo="market", name="withVat")
    assert names(callers) == ["Cart.total"]
    logs = newcomer.call("get_callers", repo="market", name="log")
    assert names(logs) == ["Cart.total"]
    broken = newcomer.call("analyze_impact", repo="market", name="withVat")
    assert "apps/web/src/cart.ts" in files(broken)
    assert any(each.startswith("apps/web/src/cart.test.ts") for each in broken["meta"]["tests"])
    where = newcomer.call("semantic_search", repo="market", query="add tax to a net price")
    assert names(where)[0] == "withVat"


def test_a_name_that_is_not_there_or_stands_for_several_is_an_error(newcomer: Asking) -> None:
    assert "The nearest are: " in newcomer.refusal("get_callers", repo="orchard", name="weihg")
    several = newcomer.refusal("get_callers", repo="orchard", name="weigh")
    assert "src/orchard/press.py" in several
    assert "src/orchard/anchor.py" in several
    unnamed = newcomer.refusal("get_callers", name="weigh")
    assert "market, orchard" in unnamed


def test_an_agent_that_runs_in_circles_is_told_to_pause(portal: Community, tmp_path: Path) -> None:
    asking = Asking(portal, "modern", tmp_path)
    asked = {"repo": "orchard", "name": "press", "kind": "function"}
    for _ in range(2):
        asking.call("get_project_stats", repo="orchard")
    refusal = asking.refusal("get_project_stats", repo="orchard")
    assert "rate_limited" in refusal
    assert "retryAfterSeconds" in refusal
    asking.call("get_callers", **asked)


# People who have signed in.


def someone(portal: Community, chain: Chain | None = None) -> str:
    """A token of somebody new; who wears the members' hat if a chain is given."""
    with Member(portal, portal.url) as person:
        if chain is not None:
            chain.give_hat(person.key.address, parse(HAT))
        person.sign_in()
        return person.api_token()


@pytest.mark.parametrize("era", SDK_ERAS)
async def test_a_function_that_is_not_committed_is_seen_by_its_author_alone(
    portal: Community, tmp_path: Path, era: str
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(portal.root / "orchard"), str(clone))
    text = "from orchard import weigh\n\n\ndef ship(apples):\n    return weigh(apples)\n"
    write(clone, {"src/orchard/ship.py": text, "uv.lock": "version = 1\n"})
    asked = {"repo": "orchard", "name": "weigh", "kind": "function"}
    author, another = someone(portal), someone(portal)

    async def callers(client: Any) -> list[str]:
        result = await client.call_tool("get_callers", asked)
        assert not result.is_error, said(result)
        return sorted(names(result.structured_content))

    address = f"{portal.url}/mcp"
    async with (
        plain_client(address, author, era) as mine,
        plain_client(address, another, era) as theirs,
    ):
        sent = await mine.call_tool("sync_local_diff", {"repo": "orchard", **unsent(clone)})
        assert not sent.is_error, said(sent)
        done = sent.structured_content
        assert (done["files"], done["stripped"]) == (["src/orchard/ship.py"], ["uv.lock"])
        assert done["baseMatches"]
        assert await callers(mine) == ["Press.squeeze", "sell", "ship"]
        result = await mine.call_tool("get_function", {"repo": "orchard", "name": "ship"})
        assert result.structured_content["meta"]["workspace"]["branch"] == "main"
        assert await callers(theirs) == ["Press.squeeze", "sell"]
        write(clone, {"src/orchard/ship.py": ""})
        git(clone, "rm", "--quiet", "--force", "src/orchard/ship.py", "uv.lock")
        gone = await mine.call_tool("sync_local_diff", {"repo": "orchard", **unsent(clone)})
        assert not gone.is_error, said(gone)
        assert await callers(mine) == ["Press.squeeze", "sell"]


async def test_a_secret_in_a_diff_is_taken_out_and_the_sender_is_told(
    portal: Community, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(portal.root / "orchard"), str(clone))
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    write(clone, {"src/orchard/keys.py": f'def key():\n    return "{secret}"\n'})
    async with plain_client(f"{portal.url}/mcp", someone(portal), "legacy") as client:
        sent = await client.call_tool("sync_local_diff", {"repo": "orchard", **unsent(clone)})
        told = said(sent)
        assert not sent.is_error, told
        assert "Redacted before use: GitHub personal access token" in told
        read = await client.call_tool("get_function", {"repo": "orchard", "name": "key"})
        assert "[REDACTED]" in said(read)
        assert secret not in said(sent) + said(read)
        await client.call_tool("sync_local_diff", {"repo": "orchard", **unsent(clone), "diff": ""})


def test_without_a_sign_in_nothing_is_sent(portal: Community, tmp_path: Path) -> None:
    listed = inspected(f"{portal.url}/mcp", "modern", tmp_path, None, "--method", "tools/list")
    offered = {each["name"] for each in listed["tools"]}
    assert "get_callers" in offered
    assert "sync_local_diff" not in offered


# Who sees what, and how long.


async def test_a_repository_is_seen_by_its_tier_and_group_until_it_is_removed(
    portal: Community, chain: Chain, tmp_path: Path
) -> None:
    added(portal, "vault", "--tier", "members", "--group", f"hat:{HAT}")
    asked = {"repo": "vault", "name": "unlock"}
    stranger = Asking(portal, "modern", tmp_path)
    visitor = Asking(portal, "legacy", tmp_path, someone(portal))
    for each in (stranger, visitor):
        refusal = each.refusal("get_function", **asked)
        assert "There is no repository 'vault' that you may see" in refusal
        assert "vault" not in each.refusal("get_callers", name="weigh")
    async with plain_client(f"{portal.url}/mcp", someone(portal, chain), "legacy") as wearer:

        async def is_served() -> bool:
            return not (await wearer.call_tool("get_function", asked)).is_error

        await eventually(is_served, "the portal serves it to those of the group")
        removed = await asyncio.to_thread(porch, portal, "remove", "vault")
        assert removed.returncode == 0, removed.stdout
        gone = said(await wearer.call_tool("get_function", asked))
        assert "There is no repository 'vault' that you may see" in gone
    left = json.loads((await asyncio.to_thread(porch, portal, "list", "--json")).stdout)
    assert [each["name"] for each in left["repositories"]] == ["market", "orchard"]


async def test_the_index_follows_the_working_tree(portal: Community, tmp_path: Path) -> None:
    asked = {"repo": "market", "name": "withVat"}
    later = portal.root / "market" / "apps" / "web" / "src" / "later.ts"
    async with plain_client(f"{portal.url}/mcp", someone(portal), "2026-07-28") as client:

        async def is_called_by(*callers: str) -> bool:
            result = await client.call_tool("get_callers", asked)
            return sorted(names(result.structured_content)) == sorted(callers)

        async def is_there() -> bool:
            return await is_called_by("Cart.total", "pay")

        async def is_gone() -> bool:
            return await is_called_by("Cart.total")

        later.write_text(
            'import { withVat } from "@market/prices";\n'
            "export function pay(): number {\n  return withVat(1);\n}\n"
        )
        await eventually(is_there, "what was written is in the graph")
        later.unlink()
        await eventually(is_gone, "what was deleted is not")


def test_a_project_is_made_ready_for_its_clients(portal: Community, tmp_path: Path) -> None:
    there = str(checkout(tmp_path / "orchard", ORCHARD))
    address = ["--url", f"{portal.url}/mcp"]
    missing = porch(portal, "onboard", there, *address, "--check")
    assert (missing.returncode, "missing" in missing.stdout) == (1, True)
    done = porch(portal, "onboard", there, *address)
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads((tmp_path / "orchard" / ".mcp.json").read_text())
    assert f"{portal.url}/mcp" in json.dumps(written)
    assert "git add -N ." in git(tmp_path / "orchard", "grep", "--untracked", "git add")
    assert porch(portal, "onboard", there, *address, "--check").returncode == 0
