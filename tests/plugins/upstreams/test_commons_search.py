"""Members search partners and their own portal as one, and are told who did not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auth import Caller, Tier
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.testing import TestPortal, open_test_portal
from plugins.upstreams import plugin
from tests.examples import examples
from tests.plugins.upstreams.far import Far, far_server
from tests.plugins.upstreams.portals import until, until_offered

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
NAMES = ("far", "far1", "far2")


def found(*titles: str) -> Callable[[Mapping[str, Any]], Awaitable[Any]]:
    """What a search answers that has found these."""

    async def search(given: Mapping[str, Any]) -> Any:
        results = [{"title": each, "url": f"https://wiki.example/{each}"} for each in titles]
        return {"content": [], "structuredContent": {"results": results}}

    return search


def searchable(far: Far, tool: str = "search", *titles: str) -> None:
    far.tools.append({"name": tool, "description": "Searches.", "inputSchema": QUERY})
    far.answers[tool] = found(*titles)


async def hang(given: Mapping[str, Any]) -> Any:
    await asyncio.Event().wait()


@pytest.fixture
def fars() -> Iterator[list[Far]]:
    with ExitStack() as stack:
        yield [stack.enter_context(far_server()) for _ in range(2)]


def portal_of(
    fars: list[Far], *modules: Any, tiers: Any = None, each: Any = None, **commons: Any
) -> Any:
    servers = [
        {"name": name, "url": far.url, "tier": "open", "commons": True}
        | ((each or {}).get(name, {}))
        for name, far in zip(NAMES, fars, strict=False)
    ]
    section = {"servers": servers, "commons": {"timeout": "60s", **commons}}
    if tiers:
        for server in servers:
            server.pop("tier")
    return open_test_portal(
        plugin, *modules, config={"plugins": {"upstreams": section}}, tiers=tiers
    )


async def searched(portal: TestPortal, tier: str = "open", **more: Any) -> Any:
    answer = await portal.call("commons_search", {"query": "trust", **more}, tier=tier)
    assert not answer.is_error, answer.text
    return answer.structured


async def until_all_offer(portal: TestPortal, *tools: str) -> None:
    for tool in tools:
        await until_offered(portal, tool, "members")


async def test_all_are_asked_and_what_two_have_is_there_once_and_first(fars: list[Far]) -> None:
    searchable(fars[0], "search", "Moss", "Trust")
    searchable(fars[1], "wiki_search", "Trust")
    licences = {"far": {"commons": {"licence": "CC BY-SA 4.0"}}}
    async with portal_of(fars, each=licences) as portal:
        await until_all_offer(portal, "far__search", "far1__wiki_search")
        answer = await searched(portal)
        assert [each["title"] for each in answer["results"]] == ["Trust", "Moss"]
        origins = [(o["source"], o["rank"], o["licence"]) for o in answer["results"][0]["origins"]]
        assert origins == [("far1", 1, ""), ("far", 2, "CC BY-SA 4.0")]
        assert [each["source"] for each in answer["answered"]] == ["far", "far1"]
        assert answer["complete"]
        assert answer["unanswered"] == []
        assert fars[0].called == fars[1].called == [{"query": "trust"}]
        limited = await searched(portal, limit=1)
        assert (len(limited["results"]), limited["more"]) == (1, 1)


async def test_our_own_knowledge_is_one_of_them(fars: list[Far], tmp_path: Path) -> None:
    from plugins.knowledge import plugin as knowledge

    note = tmp_path / "notes" / "trust.md"
    note.parent.mkdir()
    note.write_text("---\ntitle: Trust\ntype: pattern\n---\nTrust grows slowly.\n")
    searchable(fars[0], "search", "Moss")
    servers = [{"name": "far", "url": fars[0].url, "tier": "open", "commons": True}]
    upstreams = {"servers": servers, "commons": {"timeout": "60s", "licence": "CC0"}}
    sources = [{"directory": str(note.parent)}]
    config = {"plugins": {"upstreams": upstreams, "knowledge": {"sources": sources}}}
    async with open_test_portal(plugin, knowledge, config=config) as portal:
        await until_all_offer(portal, "far__search", "search_knowledge")

        async def is_read() -> bool:
            answer = await searched(portal, "members")
            return {each["source"] for each in answer["answered"]} == {"this portal", "far"}

        await until(is_read)


async def test_our_own_knowledge_that_is_not_open_is_named(fars: list[Far]) -> None:
    from plugins.knowledge import plugin as knowledge

    searchable(fars[0], "search", "Moss")
    servers = [{"name": "far", "url": fars[0].url, "tier": "open", "commons": True}]
    config = {"plugins": {"upstreams": {"servers": servers}, "knowledge": {"sources": 7}}}
    async with open_test_portal(plugin, knowledge, config=config) as portal:
        await until_all_offer(portal, "far__search")
        answers = await searched(portal)
        assert [(each["source"], each["why"]) for each in answers["unanswered"]] == [
            ("this portal", "closed")
        ]
        assert not answers["complete"]


async def test_they_are_asked_at_the_same_time(fars: list[Far]) -> None:
    both = threading.Barrier(2)

    async def together(given: Mapping[str, Any]) -> Any:
        await asyncio.to_thread(both.wait, 60)
        return await found("Trust")(given)

    for far in fars:
        searchable(far)
        far.answers["search"] = together
    async with portal_of(fars) as portal:
        await until_all_offer(portal, "far__search", "far1__search")
        assert (await searched(portal))["complete"]


@pytest.mark.parametrize(
    ("answer", "why", "says"),
    [
        (hang, "deadline", "not answered within 1 s"),
        (None, "failed", "Unknown tool"),
        ("isError", "failed", "It failed: the index is on fire"),
    ],
)
async def test_one_that_hangs_or_fails_is_named_and_costs_the_others_nothing(
    fars: list[Far], answer: Any, why: str, says: str
) -> None:
    async def on_fire(given: Mapping[str, Any]) -> Any:
        text = {"type": "text", "text": "the index is on fire"}
        return {"isError": True, "content": [text]}

    searchable(fars[0], "search", "Trust")
    searchable(fars[1])
    if answer is None:
        del fars[1].answers["search"]
    else:
        fars[1].answers["search"] = on_fire if answer == "isError" else answer
    async with portal_of(fars, each={"far1": {"timeout": "1s"}}) as portal:
        await until_all_offer(portal, "far__search", "far1__search")
        answers = await searched(portal)
        assert [each["title"] for each in answers["results"]] == ["Trust"]
        [unanswered] = answers["unanswered"]
        assert (unanswered["source"], unanswered["why"]) == ("far1", why)
        assert says in unanswered["reason"].replace(
            "took longer than 1 s", "not answered within 1 s"
        )
        assert not answers["complete"]


async def test_a_source_has_no_more_time_than_the_commons_give_it(fars: list[Far]) -> None:
    searchable(fars[0])
    fars[0].answers["search"] = hang
    async with portal_of(fars[:1], timeout="1s") as portal:
        await until_all_offer(portal, "far__search")
        answers = await searched(portal)
        assert answers["answered"] == []
        assert [(each["source"], each["why"]) for each in answers["unanswered"]] == [
            ("far", "deadline")
        ]
        assert not answers["complete"]
        assert (
            "far has not: It has not answered within 1 s."
            in (await portal.call("commons_search", {"query": "trust"}, tier="open")).text
        )


async def test_one_that_is_down_is_named(fars: list[Far]) -> None:
    with far_server() as away:
        searchable(away)
    searchable(fars[0], "search", "Trust")
    async with portal_of([fars[0], away]) as portal:
        await until_all_offer(portal, "far__search")

        async def is_told() -> bool:
            answers = await searched(portal)
            return [(each["source"], each["why"]) for each in answers["unanswered"]] == [
                ("far1", "down")
            ]

        await until(is_told)


async def test_one_whose_search_is_called_otherwise_is_told_and_can_be_named(
    fars: list[Far],
) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}
    for far in fars:
        far.tools.append({"name": "look_up", "inputSchema": schema})
        far.answers["look_up"] = found("Trust")
    named = {"far": {"commons": {"tool": "look_up", "argument": "q"}}}
    async with portal_of(fars, each=named) as portal:
        await until_all_offer(portal, "far__look_up", "far1__look_up")
        answers = await searched(portal)
        assert [each["source"] for each in answers["answered"]] == ["far"]
        assert [(each["source"], each["why"]) for each in answers["unanswered"]] == [
            ("far1", "no_search")
        ]
        assert fars[0].called == [{"q": "trust"}]
        health = (await portal.health())["plugins"]["upstreams"]
        assert "far1 is marked commons and has no tool search, search_* or" in health["detail"]


async def test_a_search_of_other_commons_is_never_taken_by_itself(fars: list[Far]) -> None:
    searchable(fars[0], "commons_search")
    async with portal_of(fars[:1]) as portal:
        await until_all_offer(portal, "far__commons_search")
        assert [each["why"] for each in (await searched(portal))["unanswered"]] == ["no_search"]


async def test_every_question_is_a_call_of_its_own_in_the_audit_log(fars: list[Far]) -> None:
    searchable(fars[0], "search", "Trust")
    async with portal_of(fars[:1]) as portal:
        await until_all_offer(portal, "far__search")
        await searched(portal)

        async def is_kept() -> bool:
            items = [each.item for each in await portal.running.audit.read()]
            return sorted(items)[-2:] == ["upstreams/commons_search", "upstreams/far__search"]

        await until(is_kept)


@pytest.fixture(scope="module")
def three() -> Iterator[list[Far]]:
    with ExitStack() as stack:
        fars = [stack.enter_context(far_server()) for _ in NAMES]
        for far in fars:
            searchable(far)
        yield fars


@pytest.fixture(scope="module")
async def portal(three: list[Far]) -> AsyncIterator[TestPortal]:
    async with portal_of(three, tiers={"default": "open"}) as portal:
        await until_all_offer(portal, *(f"{name}__search" for name in NAMES))
        yield portal


async def refuse(given: Mapping[str, Any]) -> Any:
    return {"isError": True, "content": [{"type": "text", "text": "No."}]}


LINES = st.builds(
    Rule,
    st.sampled_from([*(f"upstreams/{name}/search" for name in NAMES), "upstreams/far*"]),
    st.sampled_from([Tier.PUBLIC, Tier.MEMBERS]),
    st.booleans(),
)


@given(
    said=st.lists(LINES, max_size=4),
    tier=st.sampled_from(list(Tier)),
    fails=st.sets(st.sampled_from(NAMES)),
)
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck), deadline=None)
async def test_only_what_the_caller_may_use_is_asked_and_all_the_others_are_named(
    portal: TestPortal, three: list[Far], said: list[Rule], tier: Tier, fails: set[str]
) -> None:
    catalog = portal.running.catalog
    catalog.apply(TierRules((Rule("upstreams/commons_search", Tier.OPEN), *said), Tier.OPEN))
    caller = Caller(None, tier)
    decided = {
        name: catalog.explain(item, caller)
        for name in NAMES
        for item in catalog.named(f"{name}__search")
    }
    for name, far in zip(NAMES, three, strict=True):
        far.called.clear()
        far.answers["search"] = refuse if name in fails else found(name)
    answers = await searched(portal, str(tier))
    asked = {name for name, far in zip(NAMES, three, strict=True) if far.called}
    allowed = {name for name, each in decided.items() if each.allowed}
    known = {name for name, each in decided.items() if each.known}
    assert asked == allowed
    assert {each["source"] for each in answers["answered"]} == allowed - fails
    unanswered = {each["source"]: each["why"] for each in answers["unanswered"]}
    assert {*unanswered} == known - (allowed - fails)
    assert {unanswered[name] for name in known - allowed} <= {"not_allowed"}
    assert answers["complete"] == (not unanswered)
    for name in {*NAMES} - known:
        assert f"{name}__" not in str(answers)
        assert f"'{name}'" not in str(answers)
