"""Whatever tool somebody asks, they hear of no repository but those that they may see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from gateway.contract import Caller, Tier, ToolFailed
from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import PORTAL
from plugins.codegraph.store.tables import repositories
from tests.examples import examples
from tests.plugins.codegraph.portal import WordsModel, World, world

NAMES = ("alpha", "beta", "gamma", "delta")
GROUPS = ("github_org:garden", "hat:30")
PEOPLE = ("ada", "bob", None)
ASKED: Mapping[str, dict[str, object]] = {
    "semantic_search": {"query": "secret of the run"},
    "search_code": {"query": "run secret mine uncommitted"},
    "find_similar": {"name": "run"},
    "get_function": {"name": "run"},
    "get_class": {"name": "Box"},
    "get_file": {"file": "a.py"},
    "get_callers": {"name": "run", "depth": 5},
    "get_callees": {"name": "go", "depth": 5},
    "get_imports": {"file": "b.py", "depth": 5},
    "find_references": {"name": "run"},
    "find_path": {"source": "go", "target": "run"},
    "get_call_graph": {"name": "run", "depth": 5, "direction": "both", "references": True},
    "safe_to_delete": {"name": "run"},
    "get_code_map": {},
    "get_routes": {},
    "analyze_impact": {"name": "run", "depth": 5, "business": True},
    "get_business_context": {"name": "run"},
    "search_by_purpose": {"query": "secret of the run"},
    "get_blueprint": {},
    "get_project_stats": {},
    "get_health_report": {"history": 5},
    "get_recent_changes": {},
    "get_workspace": {},
}
"""A question for each tool; what only its sender sees is sent before."""

Seen = tuple[Tier, frozenset[str]]
"""Who sees a repository, or what somebody has: a tier and groups."""
SEEN = st.tuples(st.sampled_from(Tier), st.frozensets(st.sampled_from(GROUPS), max_size=2))
POPULATION = st.lists(st.tuples(st.sampled_from(PEOPLE), SEEN), min_size=2, max_size=4)


def tree(name: str) -> dict[str, bytes]:
    """Code whose every part says whose it is."""
    said = f'"""Holds the secret of {name}."""'
    return {
        "a.py": f"{said}\n\ndef run():\n    {said}\n\nclass Box:\n    {said}\n".encode(),
        "b.py": f"{said}\nfrom a import run\n\ndef go():\n    {said}\n    run()\n".encode(),
    }


def diff(person: str | None) -> str:
    """A diff that adds a file of somebody's own."""
    return (
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n"
        "@@ -0,0 +1,4 @@\n+from a import run\n+def mine():\n"
        f'+    """It is uncommitted, of {person}."""\n+    run()\n'
    )


@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck))
@given(seen=st.fixed_dictionaries(dict.fromkeys(NAMES, SEEN)), population=POPULATION)
def test_nobody_hears_of_what_they_may_not_see(
    codegraph_file: Path, seen: dict[str, Seen], population: list[tuple[str | None, Seen]]
) -> None:
    callers = [Caller(person, tier, groups=groups) for person, (tier, groups) in population]

    async def play() -> None:
        with TemporaryDirectory() as directory:
            async with world(Path(directory), WordsModel(), codegraph_file) as made:
                await _indexed(made, seen)
                for caller in callers:
                    await _sent(made, caller)
                for caller in callers:
                    await _check(made, caller, seen)

    asyncio.run(play())


async def _indexed(made: World, seen: dict[str, Seen]) -> None:
    for name, (tier, groups) in seen.items():
        org = min(groups, default=PORTAL)
        owner = await made.index(name, tree(name), org)
        await made.parts.embedder.embed(owner.org, owner.repo)
        await Justifier(made.host.database, made.store).run(owner.org, owner.repo)
        chosen = update(repositories).where(repositories.c.id == name)
        values = {"name": name, "tier": tier.value, "groups": sorted(groups)}
        async with made.host.database.begin() as connection:
            await connection.execute(chosen.values(**values))
    made.registry = Repositories(made.host.database, lambda: datetime.now(UTC))
    made.__post_init__()
    for owner in made.trees:
        await made.parts.health.make(owner.org, owner.repo)


async def _sent(made: World, caller: Caller) -> None:
    for name in NAMES:
        arguments = {"diff": diff(caller.person), "branch": "main", "baseSha": "c0ffee0"}
        _, code = await _answer(made, caller, "sync_local_diff", arguments | {"repo": name})
        assert code in ("", "authentication_required", "no_such_repository")


async def _check(made: World, caller: Caller, seen: dict[str, Seen]) -> None:
    mine = {name for name, (tier, groups) in seen.items() if _may(caller, tier, groups)}
    assert set(ASKED) | {"sync_local_diff", "correct_justification"} == set(made.tools)
    for tool, arguments in ASKED.items():
        for name in (None, *NAMES, "nowhere"):
            answer, code = await _answer(made, caller, tool, {**arguments, "repo": name})
            told = {each for each in NAMES if each in answer}
            assert told <= mine | {name}, (tool, name, answer)
            others = {f"of {each}." for each in PEOPLE if each != caller.person}
            assert not [each for each in others if each in answer], (tool, name, answer)
            if name is not None:
                assert (code == "no_such_repository") == (name not in mine), (tool, name, answer)
            if name in mine:
                assert (code, told) == ("", {name}), (tool, name, answer)


def _may(caller: Caller, tier: Tier, groups: frozenset[str]) -> bool:
    return caller.tier.allows(tier) and (not groups or bool(groups & caller.groups))


async def _answer(
    made: World, caller: Caller, tool: str, arguments: Mapping[str, object]
) -> tuple[str, str]:
    """What somebody is told, as text, and the code of the error."""
    try:
        return json.dumps(await made.call(tool, caller, **arguments)), ""
    except ToolFailed as failed:
        return f"{failed.message} {json.dumps(failed.details)}", failed.code


async def test_it_offers_tools_alone(tmp_path: Path) -> None:
    """Who adds a resource, a prompt or a completion adds them to the test above."""
    (tmp_path / "tree").mkdir()
    section = {"repositories": [{"path": str(tmp_path / "tree")}]}
    async with open_test_portal(plugin, config={"plugins": {"codegraph": section}}) as portal:
        assert "get_callers" in await portal.tools("members")
        assert await portal.resources("members") == {}
        assert await portal.prompts("members") == {}
