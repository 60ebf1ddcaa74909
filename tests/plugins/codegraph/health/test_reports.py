"""Reports: made once a full index, kept with their history, purged with the repository."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.health import reports
from tests.plugins.codegraph.checkouts import committed
from tests.plugins.codegraph.portal import World, world

BRANCHES = "\n".join(f"    if a == {each}:\n        return {each}" for each in range(20))
TREE = {
    "main.py": b"import b\nfrom a import used\n\nused(1)\n",
    "a.py": f"import b\n\n\ndef used(a):\n{BRANCHES}\n\n\ndef _dead():\n    return 1\n".encode(),
    "b.py": b"import a\n",
}


@pytest.fixture
async def shop(tmp_path: Path, codegraph_file: Path) -> AsyncIterator[World]:
    """A portal with one repository, and its report."""
    async with world(tmp_path, migrated=codegraph_file) as portal:
        owner = await portal.index("shop", TREE)
        await portal.parts.health.make(owner.org, owner.repo)
        yield portal


async def test_a_report_says_what_it_found_where_and_how_sure_it_is(shop: World) -> None:
    answer = await shop.call("get_health_report")
    sections = answer["sections"]
    (dead,) = sections["deadCode"]["topOffenders"]
    assert (dead["name"], dead["filePath"], dead["confidence"]) == ("_dead", "a.py", 0.97)
    assert dead["evidence"][0].startswith("a.py:47 ")
    (cycle,) = sections["circularDependencies"]["cycles"]
    assert cycle["path"] == ["a.py", "b.py"]
    assert cycle["evidence"] == ["a.py:1 imports b.py", "b.py:1 imports a.py"]
    (hot,) = sections["complexityHotspots"]["hotspots"]
    assert (hot["name"], hot["cyclomaticComplexity"], hot["inboundEdges"]) == ("used", 21, 1)
    assert sections["complexityHotspots"]["severity"] == "critical"


async def test_the_score_is_what_its_parts_say(shop: World) -> None:
    answer = await shop.call("get_health_report")
    parts = answer["scoreParts"]
    for each in parts:
        share = min(1, each["value"] / each["worst"])
        assert each["lost"] == pytest.approx(each["weight"] * share, abs=0.05)
    assert answer["overallScore"] == round(100 - sum(each["lost"] for each in parts))
    assert f"{answer['overallScore']} of 100" in answer["executiveSummary"]
    assert answer["llmRiskAssessment"]["risks"]
    assert answer["suggestedRules"][0]["title"]


async def test_sections_are_chosen_and_cut_with_what_is_left_out(shop: World) -> None:
    many = "".join(f"def _dead_{each}():\n    return {each}\n\n\n" for each in range(7))
    owner = await shop.index("shop", {**TREE, "b.py": f"import a\n\n\n{many}".encode()})
    await shop.parts.health.make(owner.org, owner.repo)
    answer = await shop.call("get_health_report", sections=["deadCode"], max_per_section=3)
    assert len(answer["sections"]["deadCode"]["topOffenders"]) == 3
    assert answer["sections"]["deadCode"]["count"] == 8
    assert answer["sections"]["circularDependencies"] is None
    assert answer["leftOut"] == {"deadCode": 5}


async def test_each_full_index_has_one_report_and_the_oldest_go(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "HISTORY", 3)
    owner = next(iter(shop.trees))
    for each in range(4):
        tree = {**TREE, "a.py": TREE["a.py"] + b"\n\ndef _more():\n    return 1\n" * (each + 1)}
        await shop.index("shop", tree)
        for _ in range(2):
            await shop.parts.health.make(owner.org, owner.repo)
    answer = await shop.call("get_health_report", history=50)
    assert len(answer["history"]) == 3
    assert answer["history"][0]["overallScore"] == answer["overallScore"]
    assert answer["history"][0]["counts"]["deadCode"] == 2


async def test_a_purge_leaves_no_report(shop: World) -> None:
    owner = next(iter(shop.trees))
    health = shop.parts.health
    assert await health.leftovers(owner.org, owner.repo) == 1
    assert await health.purge(owner.org, owner.repo) == 1
    assert await health.leftovers(owner.org, owner.repo) == 0


async def test_a_portal_reports_on_what_it_has_indexed_with_the_history_of_git(
    tmp_path: Path,
) -> None:
    tree = {path: text.decode() for path, text in TREE.items()}
    committed(tmp_path / "shop", tree)
    committed(tmp_path / "shop", {"a.py": f"{tree['a.py']}\n"})
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(tmp_path / "shop")}]}}}
    async with open_test_portal(plugin, config=config, data_dir=tmp_path / "data") as portal:
        answer = (await portal.call("get_health_report")).structured
        (hot,) = answer["sections"]["complexityHotspots"]["hotspots"]
        assert hot["churn"] == 2


async def test_a_job_makes_the_report_after_the_index_is_served(tmp_path: Path) -> None:
    committed(tmp_path / "shop", {path: text.decode() for path, text in TREE.items()})
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(tmp_path / "shop")}]}}}
    data = tmp_path / "data"
    async with open_test_portal(plugin, config=config, data_dir=data, wait_ready=False) as portal:
        answer = await portal.call("get_health_report")
        while answer.is_error and "no index yet" in answer.text:
            answer = await portal.call("get_health_report")
        assert not answer.is_error, answer.text
        assert answer.structured["sections"]["deadCode"]["count"] == 1
