"""Lists that differ from caller to caller, over both eras."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import ANONYMOUS, Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.config.tiers_file import parse_rules
from gateway.contract import Change, Offer
from gateway.observability.audit_record import AuditRecord
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.mcp import lists as listing
from gateway.surfaces.mcp.call_messages import Outbox
from gateway.surfaces.mcp.envelope import WireError
from gateway.surfaces.mcp.request import Channel, Request
from gateway.surfaces.mcp.request_state import StateSigner
from gateway.surfaces.mcp.results import Era, list_result
from gateway.testing import PluginContract, RequestRefused, open_test_portal
from tests.gateway.discovery.over import discovery_over
from tests.gateway.surfaces.mcp.conftest import LEGACY, MODERN, Wire
from tests.gateway.surfaces.mcp.diaries import Diaries, pages
from tests.journeys import garden

OPEN = {"default": "open"}
DAYS: dict[str, str | None] = {"monday": None, "sunday": None}


class TestDiaries(PluginContract):
    plugin = Diaries({**DAYS, "friday": "person:whoever"})


@pytest.mark.parametrize("era", [MODERN, LEGACY])
async def test_each_caller_is_shown_their_own_after_what_is_the_same_for_all(era: str) -> None:
    diaries = Diaries()
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        ana, ben = await portal.sign_in("ana"), await portal.sign_in("ben")
        diaries.days = DAYS | {"friday": ana.id, "tuesday": ben.id}
        for name, own in (("open", []), ("ana", ["friday"]), ("ben", ["tuesday"])):
            wire = Wire(portal, name)
            wire = wire if era == MODERN else await wire.begin()
            days = sorted([*DAYS, *own])
            prompts = ["greet", *(f"day-{day}" for day in days)]
            resources = ["diaries://about/0", *(f"diaries://{day}" for day in days)]
            assert await pages(wire, "prompts/list", era) == [prompts]
            assert await pages(wire, "resources/list", era) == [resources]


async def test_what_is_listed_can_be_had_and_what_is_not_cannot() -> None:
    diaries = Diaries()
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        ana = await portal.sign_in("ana")
        await portal.sign_in("ben")
        diaries.days = DAYS | {"friday": ana.id}
        mood = {"mood": "gladly"}
        (message,) = await portal.prompt("day-friday", mood, tier="ana")
        assert message["content"]["text"] == "Tell of friday, gladly."
        assert await portal.complete("day-friday", "mood", "so", tier="ana") == ["so friday"]
        assert await portal.read("diaries://friday", tier="ana") == "It was friday."
        entry = (await portal.prompts("ana"))["day-friday"]
        assert entry["arguments"] == [
            {"name": "mood", "description": "How it is to sound.", "required": True}
        ]
        listed = (await portal.resources("ana"))["diaries://friday"]
        assert (listed["mimeType"], listed["description"]) == (
            "text/plain",
            "What friday was like.",
        )


@pytest.mark.parametrize("era", [MODERN, LEGACY])
@pytest.mark.parametrize("name", ["day-friday", "day-nothing", "day-", "day-é", "day-*", "x"])
async def test_another_s_prompt_is_as_unknown_as_one_that_is_not_there(era: str, name: str) -> None:
    diaries = Diaries({"friday": "person:ana"})
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        wire = Wire(portal) if era == MODERN else await Wire(portal).begin()
        send = wire.modern if era == MODERN else wire.legacy
        ref = {"type": "ref/prompt", "name": name}
        for answer in (
            send("prompts/get", {"name": name, "arguments": {"mood": "x"}}, headers=_named(name)),
            send("completion/complete", {"ref": ref, "argument": {"name": "mood", "value": ""}}),
        ):
            error = (await answer.reply())["error"]
            assert (error["code"], error["message"], error["data"]) == (
                -32602,
                f"Unknown prompt: {name}",
                {"name": name},
            )


def _named(name: str) -> dict[str, str]:
    encoded = base64.b64encode(name.encode()).decode()
    return {} if name.isascii() else {"mcp-name": f"=?base64?{encoded}?="}


async def test_a_prompt_of_a_family_parses_its_own_arguments() -> None:
    async with open_test_portal(Diaries(DAYS), tiers=OPEN) as portal:
        with pytest.raises(RequestRefused, match="mood: is required") as refused:
            await portal.prompt("day-monday", {})
        assert refused.value.data["errors"][0]["argument"] == "mood"


async def test_a_family_s_prompts_pass_the_pipeline_and_are_recorded_as_the_family() -> None:
    async with open_test_portal(Diaries(DAYS), tiers=OPEN) as portal:
        records: list[AuditRecord] = []

        def recorded(record: AuditRecord) -> None:
            records.append(record)

        portal.running.audit.write = recorded  # type: ignore[method-assign]
        await portal.prompt("day-monday", {"mood": "gladly"})
        with pytest.raises(RequestRefused):
            await portal.prompt("day-nothing", {"mood": "gladly"})
    told = [(each.item, each.kind, each.outcome) for each in records]
    assert told == [
        ("diaries/prompt:day-*", "prompt", "ok"),
        ("diaries/prompt:day-*", "prompt", "not_found"),
    ]


@pytest.mark.parametrize("fixed", [1, 3, 4, 7, 8])
@pytest.mark.parametrize("count", [0, 1, 3, 9])
async def test_a_long_list_comes_in_full_pages(
    fixed: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "ENTRIES_PER_PAGE", 4)
    diaries = Diaries({f"day{n}": None for n in range(count)}, fixed=fixed)
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        found = await pages(Wire(portal), "resources/list")
    expected = [f"diaries://about/{n}" for n in range(fixed)]
    expected += [f"diaries://day{n}" for n in range(count)]
    assert [uri for page in found for uri in page] == expected
    assert {len(page) for page in found[:-1]} <= {4}
    assert len(found[-1]) <= 4


async def test_a_list_goes_on_although_the_entry_it_stopped_at_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "ENTRIES_PER_PAGE", 3)
    diaries = Diaries({f"day{n}": None for n in range(5)})
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        wire = Wire(portal)
        first = (await wire.modern("prompts/list").reply())["result"]
        del diaries.days["day1"]
        params = {"cursor": first["nextCursor"]}
        second = (await wire.modern("prompts/list", params).reply())["result"]
    names = [each["name"] for each in (*first["prompts"], *second["prompts"])]
    assert names == ["greet", "day-day0", "day-day1", "day-day2", "day-day3", "day-day4"]


async def test_a_cursor_of_one_list_or_person_is_refused_in_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "ENTRIES_PER_PAGE", 2)
    diaries = Diaries({f"day{n}": None for n in range(5)})
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        await portal.sign_in("ana")
        ana = Wire(portal, "ana")
        cursor = (await ana.modern("prompts/list").reply())["result"]["nextCursor"]
        params = {"cursor": cursor}
        for answer in (
            Wire(portal).modern("prompts/list", params),
            ana.modern("resources/list", params),
            ana.modern("tools/list", params),
            ana.modern("prompts/list", params, path="/mcp/diaries"),
            ana.modern("prompts/list", {"cursor": cursor[:-1]}),
        ):
            error = (await answer.reply())["error"]
            assert error["message"] == "The cursor is not one of this list. Start again."
        assert "result" in await ana.modern("prompts/list", params).reply()


@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9_-]{8,60}\.[A-Za-z0-9_-]{43}"))
def test_no_forged_cursor_is_taken(cursor: str) -> None:
    diaries = Diaries({f"day{n}": "person:ana" for n in range(3)})
    catalog = Catalog(parse_rules(b"default: open", "tiers.yaml"))
    catalog.add("diaries", diaries.offer())
    served = listing.Listing(catalog, StateSigner(b"k" * 32), discovery_over(catalog))
    with pytest.raises(WireError) as refused:
        asyncio.run(served.page(_request(cursor)))
    assert refused.value.code == -32602
    assert diaries.asked == []


def _request(cursor: str) -> Request:
    async def again() -> Caller:
        return ANONYMOUS

    return Request(
        id=1,
        method="resources/list",
        params={"cursor": cursor},
        meta={},
        era=Era(MODERN, {}),
        context=CallContext(ANONYMOUS, "r", {}, [], again, "peer", "http://localhost"),
        channel=Channel(Outbox(), {}),
    )


async def test_a_caller_below_the_tier_is_shown_none_and_told_what_it_takes() -> None:
    tiers = {"default": "open", "items": {"diaries/prompt:day-*": "members"}}
    diaries = Diaries(DAYS)
    async with open_test_portal(diaries, tiers=tiers) as portal:
        assert set(await portal.prompts("open")) == {"greet"}
        assert diaries.asked == []
        with pytest.raises(RequestRefused, match=r"^Requires members access"):
            await portal.prompt("day-monday", tier="open")
        assert set(await portal.prompts()) == {"greet", "day-monday", "day-sunday"}


async def test_a_hidden_family_leaves_no_trace_below_its_tier() -> None:
    hidden = {"tier": "members", "hidden": True}
    tiers = {"default": "open", "items": {"diaries/prompt:day-*": hidden}}
    async with open_test_portal(Diaries(DAYS), tiers=tiers) as portal:
        with pytest.raises(RequestRefused, match=r"^Unknown prompt: day-monday$"):
            await portal.prompt("day-monday", tier="open")


async def test_a_plugin_s_own_endpoint_lists_its_own_alone() -> None:
    async with open_test_portal(Diaries(DAYS), garden, tiers=OPEN) as portal:
        wire = Wire(portal)
        (own,) = await pages(wire, "prompts/list", path="/mcp/diaries")
        (other,) = await pages(wire, "prompts/list", path="/mcp/garden")
        assert own == ["greet", "day-monday", "day-sunday"]
        assert other == ["plan-season"]
        params = {"name": "day-monday", "arguments": {"mood": "gladly"}}
        refused = await wire.modern("prompts/get", params, path="/mcp/garden").reply()
        assert refused["error"]["message"] == "Unknown prompt: day-monday"


async def test_a_declared_prompt_is_shown_in_place_of_a_family_s_of_its_name() -> None:
    config = {"plugins": {"garden": {"alias": {"plan-season": "day-monday"}}}}
    async with open_test_portal(Diaries(DAYS), garden, tiers=OPEN, config=config) as portal:
        listed = await portal.prompts("open")
        assert [each["name"] for each in listed["day-monday"]["arguments"]] == ["season"]
        assert "day-sunday" in listed
        (message,) = await portal.prompt("day-monday", {"season": "spring"}, tier="open")
        assert message["content"]["text"] == "Plan the spring."


async def test_a_token_for_named_tools_is_shown_none_as_of_other_prompts() -> None:
    diaries = Diaries(DAYS)
    async with open_test_portal(diaries, garden, tiers=OPEN) as portal:
        who, person = portal.running.authentication, await portal.sign_in("ana")
        soon = datetime.now(UTC) + timedelta(days=1)
        _, portal._tokens["one"] = await who.api_tokens.create(
            person.id, "one", ceiling=Tier.MEMBERS, tools={"look"}, expires=soon
        )
        assert await portal.prompts("one") == {}
        assert await portal.resources("one") == {}
        assert diaries.asked == []
        for name in ("day-monday", "greet"):
            with pytest.raises(RequestRefused, match="This token may be used for look only"):
                await portal.prompt(name, tier="one")


async def test_lists_without_a_lister_are_written_once_and_those_with_one_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []

    def counted(method: str, *rest: Any) -> bytes:
        written.append(method)
        return list_result(method, *rest)

    monkeypatch.setattr(listing, "list_result", counted)
    async with open_test_portal(Diaries(DAYS), garden, tiers=OPEN) as portal:
        wire = Wire(portal)
        for _ in range(3):
            await wire.modern("tools/list").reply()
            await wire.modern("resources/templates/list").reply()
            await wire.modern("prompts/list", path="/mcp/garden").reply()
            await wire.modern("prompts/list").reply()
    assert sorted(written) == ["prompts/list"] * 4 + ["resources/templates/list", "tools/list"]


async def test_an_offer_that_changes_brings_other_families() -> None:
    diaries = Diaries(DAYS)
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        assert diaries.host is not None
        diaries.host.reoffer(Offer(prompts=diaries.offer().prompts))
        assert set(await portal.prompts()) == {"greet"}
        assert await portal.resources() == {}
        diaries.host.reoffer(diaries.offer())
        assert "day-monday" in await portal.prompts()


async def test_an_alias_renames_all_prompts_of_a_family() -> None:
    config = {"plugins": {"diaries": {"alias": {"day-*": "journal-*"}}}}
    async with open_test_portal(Diaries(DAYS), config=config, tiers=OPEN) as portal:
        assert set(await portal.prompts()) == {"greet", "journal-monday", "journal-sunday"}
        (message,) = await portal.prompt("journal-monday", {"mood": "gladly"})
        assert message["content"]["text"] == "Tell of monday, gladly."
        assert await portal.complete("journal-monday", "mood", "so") == ["so monday"]
        with pytest.raises(RequestRefused, match="Unknown prompt: day-monday"):
            await portal.prompt("day-monday", {"mood": "gladly"})


@pytest.mark.parametrize("kind", ["prompts", "resources"])
async def test_a_change_of_what_is_listed_is_told_in_both_eras(kind: Any) -> None:
    diaries = Diaries(DAYS)
    async with open_test_portal(diaries, tiers=OPEN) as portal:
        wire = Wire(portal)
        wanted = {f"{kind}ListChanged": True}
        modern = wire.modern("subscriptions/listen", {"notifications": wanted})
        await modern.event()
        legacy = (await wire.begin()).send(b"", method="GET")
        await legacy.chunk()
        before = await pages(wire, f"{kind}/list")
        diaries.days["tuesday"] = None
        assert diaries.host is not None
        diaries.host.changed(Change("diaries", kind))
        for listening in (modern, legacy):
            told = await listening.event()
            assert told is not None
            assert told["method"] == f"notifications/{kind}/list_changed"
        ((*_, last),) = await pages(wire, f"{kind}/list")
        assert last not in before[0]
        await modern.leave()
        await legacy.leave()


async def test_a_stranger_is_challenged_for_a_family_as_for_a_prompt() -> None:
    config = {"sign_in": {"challenge": "http"}}
    tiers = {"default": "open", "items": {"diaries/prompt:day-*": "members"}}
    async with open_test_portal(Diaries(DAYS), config=config, tiers=tiers) as portal:
        params = {"name": "day-monday", "arguments": {}}
        assert (await Wire(portal).modern("prompts/get", params).start()).status == 401
