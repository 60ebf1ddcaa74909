"""What is decided for items and rows: by their own lines, and by those of what they are part of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from auth import Caller, Tier
from gateway.catalog.decisions import Decisions
from gateway.catalog.items import Item, prompt_item, resource_item, tool_item
from gateway.catalog.skills import skill_item
from gateway.catalog.tier_rule import ItemKey, Rule, TierRules, may_use, named_items
from gateway.contract import Prompt, Resource, Skill, SkillFile, Tool

OPEN, PUBLIC, MEMBERS = Tier
DIGEST = hashlib.sha256(b"").hexdigest()


async def _nothing(*_: object) -> str:
    return ""


async def _no_bytes(path: str, caller: Caller) -> bytes:
    return b""


def _page(name: str, *more: str) -> Item:
    uri = f"demo://{name}"
    return resource_item(
        "demo", Resource(uri, name, "A page.", _nothing, tier=OPEN, rows=(f"page:{name}", *more))
    )


def _skill(path: str) -> Item:
    said = {"name": path.rpartition("/")[2], "description": "What it does."}
    files = [SkillFile("SKILL.md", DIGEST, 0)]
    return skill_item("demo", Skill(path, said, files, _no_bytes, tier=OPEN))


def _decisions(
    *items: Item, lines: Mapping[str, Tier] | None = None, above: Mapping[str, Item] | None = None
) -> Decisions:
    rules = TierRules(
        tuple(Rule(key, tier, hidden=tier is MEMBERS) for key, tier in (lines or {}).items())
    )

    def around(item: Item) -> Iterable[Item]:
        found = (above or {}).get(item.name)
        return [] if found is None else [found]

    return Decisions(rules, iter(items), around)


def _tool(name: str, **more: Any) -> Item:
    return tool_item("demo", Tool(name, "A tool.", _nothing, input_schema={}, **more), name)


def test_a_line_a_suggestion_and_a_floor_decide_an_item() -> None:
    named, suggested, raised = (
        _tool("named", tier=OPEN),
        _tool("suggested", tier=OPEN),
        _tool("raised", tier=OPEN, floor=PUBLIC),
    )
    found = _decisions(named, suggested, raised, lines={"demo/named": MEMBERS})
    assert [found[each].tier for each in (named, suggested, raised)] == [MEMBERS, OPEN, PUBLIC]
    assert [found[each].hidden for each in (named, suggested, raised)] == [True, False, False]


def test_an_item_is_called_in_tiers_yaml_as_its_kind_is() -> None:
    prompt = prompt_item("demo", Prompt("ask", "Ask.", _nothing), "ask")
    items = [_tool("t"), prompt, _page("a"), _skill("house")]
    assert list(_decisions(*items).keys.values()) == [
        ItemKey("demo", "tool", "t"),
        ItemKey("demo", "prompt", "ask"),
        ItemKey("demo", "resource", "demo://a"),
        ItemKey("demo", "resource", "skill://house/SKILL.md"),
    ]


def test_a_skill_in_a_skill_asks_for_what_the_one_around_it_asks_for() -> None:
    outer, inner = _skill("house"), _skill("house/room")
    found = _decisions(
        outer,
        inner,
        lines={"demo/resource:skill://house/SKILL.md": MEMBERS},
        above={inner.name: outer},
    )
    assert (found[inner].tier, found[inner].hidden) == (MEMBERS, True)


def test_nothing_but_a_skill_is_part_of_what_is_around_it() -> None:
    outer, tool = _skill("house"), _tool("house", tier=OPEN)
    lines = {"demo/resource:skill://house/SKILL.md": MEMBERS}
    assert _decisions(outer, tool, lines=lines, above={"house": outer})[tool].tier is OPEN


def test_a_line_about_a_row_decides_every_item_that_shows_it() -> None:
    own, part = _page("a"), _page("b", "page:a")
    found = _decisions(own, part, _page("c"), lines={"demo/page:a": MEMBERS})
    assert [found[each].tier for each in (own, part, _page("c"))] == [MEMBERS, MEMBERS, OPEN]


def test_a_line_about_a_door_decides_its_own_row_and_not_what_the_row_is_part_of() -> None:
    found = _decisions(_page("b", "page:a"), lines={"demo/resource:demo://b": MEMBERS})
    own = found.line("demo", "page:b")
    assert own is not None
    assert (own.tier, own.hidden) == (MEMBERS, True)
    assert found.line("demo", "page:a") is None


def test_of_two_doors_of_a_row_the_stricter_decides() -> None:
    prompt = prompt_item("demo", Prompt("a", "Read a.", _nothing, rows=("page:a",)), "a")
    lines = {"demo/prompt:a": PUBLIC, "demo/resource:demo://a": MEMBERS}
    for items in ((prompt, _page("a")), (_page("a"), prompt)):
        decided = _decisions(*items, lines=lines).line("demo", "page:a")
        assert decided is not None
        assert decided.tier is MEMBERS


@pytest.mark.parametrize(
    ("own", "tier", "because"),
    [
        (OPEN, PUBLIC, "tiers.yaml:0 'demo/page:a'"),
        (PUBLIC, PUBLIC, "tiers.yaml:0 'demo/page:a'"),
        (MEMBERS, MEMBERS, "demo, which no line of tiers.yaml lowers"),
    ],
)
def test_a_line_raises_the_tier_of_a_row_and_never_lowers_it(
    own: Tier, tier: Tier, because: str
) -> None:
    found = _decisions(_page("a"), lines={"demo/page:a": PUBLIC})
    decided = found.row("demo", "page:a", own)
    assert (decided.tier, decided.because) == (tier, because)
    assert decided.hidden is (own is MEMBERS)


def test_a_row_that_no_line_names_has_its_own_tier_and_is_hidden_below_it() -> None:
    decided = _decisions(_page("a")).row("demo", "page:a", PUBLIC)
    assert (decided.tier, decided.hidden) == (PUBLIC, True)
    assert decided.because == "demo, which no line of tiers.yaml lowers"


def test_a_plugin_whose_rows_no_line_may_name_is_known() -> None:
    found = _decisions(lines={"demo/page:a": PUBLIC, "other": MEMBERS})
    assert [found.names_rows(each) for each in ("demo", "other", "third")] == [True, False, False]


def test_the_items_that_each_line_names_are_told_in_order() -> None:
    one, two = Rule("kb/get_*", PUBLIC), Rule("kb", MEMBERS)
    items = [ItemKey("kb", "tool", name) for name in ("list", "get_b", "get_a")]
    found = named_items(TierRules((one, two)), [*items, ItemKey("other", "tool", "get_a")])
    assert [[each.name for each in named] for named in found.values()] == [
        ["get_a", "get_b"],
        ["get_a", "get_b", "list"],
    ]
    assert list(found) == [one, two]


def _called(declared: str, listed: str) -> Item:
    tool = Tool(declared, "A tool.", _nothing, input_schema={}, tier=OPEN)
    return tool_item("demo", tool, listed)


def test_an_alias_is_another_name_for_lines_where_nothing_else_is_declared_under_it() -> None:
    items = _called("look", "peek"), _called("erase", "look"), _called("plain", "plain")
    assert list(_decisions(*items).keys.values()) == [
        ItemKey("demo", "tool", "look", alias="peek", listed="peek"),
        ItemKey("demo", "tool", "erase", alias="", listed="look"),
        ItemKey("demo", "tool", "plain", alias="", listed=""),
    ]


def test_a_prompt_of_the_same_name_does_not_take_an_alias_away() -> None:
    prompt = prompt_item("demo", Prompt("peek", "Peek.", _nothing), "peek")
    found = _decisions(_called("look", "peek"), prompt, lines={"demo/peek": PUBLIC})
    assert found[_called("look", "peek")].tier is PUBLIC


def test_a_credential_for_named_tools_is_good_for_those_of_the_listed_names() -> None:
    (key,) = _decisions(_called("look", "peek")).keys.values()
    decision = _decisions(_called("look", "peek"))[_called("look", "peek")]
    for named, good in (("peek", True), ("look", False)):
        assert may_use(Caller("x", MEMBERS, tools=frozenset({named})), key, decision) is good
