"""What makes a skill servable, and who may see which file of it."""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Caller, Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.refusals import NotAllowed
from gateway.catalog.skills import (
    MAX_SKILL_BYTES,
    MAX_SKILL_FILES,
    SkillTree,
    declared_skill,
    path_of,
    skill_item,
    uri_of,
)
from gateway.catalog.tier_rule import Rule, TierRules
from gateway.contract import Offer, Resource, Skill, SkillFile
from gateway.errors import NotFound

CALLERS = {tier: Caller(person=None, tier=tier) for tier in Tier}
DIGEST = hashlib.sha256(b"").hexdigest()


async def _read(path, caller):
    return b""


def _skill(path: str, *files: str, tier: Tier | None = Tier.OPEN, **frontmatter: Any) -> Skill:
    said = {"name": path.rpartition("/")[2], "description": "What it does."} | frontmatter
    manifest = [SkillFile(each, DIGEST, 0) for each in ("SKILL.md", *files)]
    return Skill(path, said, manifest, _read, tier=tier)


def _catalog(*skills: Skill, rules: tuple[Rule, ...] = ()) -> Catalog:
    catalog = Catalog(TierRules(rules))
    catalog.add("shelf", Offer(skills=skills))
    return catalog


def _listed(catalog: Catalog, tier: Tier) -> list[str]:
    return [item.name for item in catalog.listed("skill", CALLERS[tier])]


def _children(catalog: Catalog, uri: str, tier: Tier = Tier.OPEN) -> list[str]:
    return [each["uri"].removeprefix("skill://") for each in catalog.directory(uri, CALLERS[tier])]


@pytest.mark.parametrize(
    ("skill", "reason"),
    [
        (_skill("house/Bake"), "the name 'Bake' must be 1 to 64"),
        (_skill("house/-bake"), "the name"),
        (_skill("house/bake-"), "the name"),
        (_skill("house/ba--ke"), "the name"),
        (_skill("house/" + "a" * 65), "the name"),
        (_skill("house/bäcker"), "the name"),
        (_skill("house/bake", name=7), "the name"),
        (_skill("house/bake", name="cook"), "must be its name, 'cook'"),
        (_skill("house/bake", description=""), "description must be 1 to 1024"),
        (_skill("house/bake", description="x" * 1025), "description"),
        (_skill("house/bake", description=None), "description"),
        (_skill("/bake"), "empty or relative segment"),
        (_skill("house/../bake"), "empty or relative segment"),
        (_skill("house/bake", "../other"), "empty or relative segment"),
        (_skill("house/bake", "a\0b"), "empty or relative segment"),
        (_skill("house/bake", "SKILL.md"), "lists a file twice"),
        (_skill("house/bake", *map(str, range(MAX_SKILL_FILES))), "513 files"),
        (replace(_skill("bake"), files=[]), "no SKILL.md"),
        (replace(_skill("bake"), files=[SkillFile("SKILL.md", "F" * 64, 0)]), "needs a digest"),
        (replace(_skill("bake"), files=[SkillFile("SKILL.md", DIGEST, -1)]), "needs a digest"),
        (
            replace(_skill("bake"), files=[SkillFile("SKILL.md", DIGEST, MAX_SKILL_BYTES + 1)]),
            "16777217 bytes",
        ),
        (replace(_skill("bake"), frontmatter=["name"]), "AttributeError"),  # type: ignore[arg-type]
    ],
)
def test_a_skill_that_hosts_would_refuse_is_set_aside_with_the_reason(skill, reason):
    catalog = _catalog(skill, _skill("house/fine"))
    assert reason in str(*catalog.set_aside)
    assert _listed(catalog, Tier.OPEN) == ["skill://house/fine/SKILL.md"]


@given(st.text(alphabet="ab-9", min_size=1, max_size=70))
def test_names_are_those_of_the_agent_skills_specification(name):
    good = len(name) <= 64 and "--" not in name and not name.startswith("-") and name[-1] != "-"
    assert bool(_listed(_catalog(_skill(f"house/{name}")), Tier.OPEN)) == good


def test_limits_are_reached_and_not_passed():
    files = map(str, range(MAX_SKILL_FILES - 1))
    whole = replace(_skill("bake"), files=[SkillFile("SKILL.md", DIGEST, MAX_SKILL_BYTES)])
    assert _catalog(_skill("cook", *files), whole).set_aside == []


def test_frontmatter_is_kept_as_json_whatever_yaml_made_of_it():
    import datetime

    written: dict[str, Any] = {
        "license": "MIT",
        "since": datetime.date(2026, 1, 2),
        "metadata": {"tags": ["a"]},
    }
    item = skill_item("shelf", _skill("bake", **written))
    assert declared_skill(item).frontmatter == {
        "name": "bake",
        "description": "What it does.",
        "license": "MIT",
        "since": "2026-01-02",
        "metadata": {"tags": ["a"]},
    }


def test_of_two_skills_with_one_path_the_later_is_set_aside():
    catalog = _catalog(_skill("bake"))
    catalog.add("other", Offer(skills=[_skill("bake"), _skill("cook")]))
    assert [str(each) for each in catalog.set_aside] == [
        "other/skill:bake: shelf already offers skill://bake/SKILL.md. Serve it at another path."
    ]
    assert catalog.skill("skill://bake/SKILL.md", CALLERS[Tier.OPEN]).plugin == "shelf"


def test_a_resource_at_a_skill_s_address_is_set_aside():
    async def read(caller):
        return "mine"

    catalog = _catalog(_skill("bake"))
    resource = Resource("skill://bake/SKILL.md", "bake", "Other.", read, tier=Tier.OPEN)
    catalog.add("other", Offer(resources=[resource]))
    assert len(catalog.set_aside) == 1
    item, variables = catalog.resource("skill://bake/SKILL.md", CALLERS[Tier.OPEN])
    assert (item.plugin, variables) == ("shelf", {"path": "SKILL.md"})


def test_every_file_rides_on_the_decision_for_the_skill():
    rule = Rule("shelf/resource:skill://house/bake/SKILL.md", Tier.MEMBERS)
    catalog = _catalog(_skill("house/bake", "notes/oven.md"), _skill("house/cook"), rules=(rule,))
    for file in ("SKILL.md", "notes/oven.md"):
        uri = f"skill://house/bake/{file}"
        item, variables = catalog.resource(uri, CALLERS[Tier.MEMBERS])
        assert (item.kind, variables) == ("skill", {"path": file})
        with pytest.raises(NotAllowed, match="Requires members access"):
            catalog.resource(uri, CALLERS[Tier.PUBLIC])
    assert _listed(catalog, Tier.PUBLIC) == ["skill://house/cook/SKILL.md"]
    assert _children(catalog, "skill://house") == ["house/cook"]
    assert _children(catalog, "skill://house", Tier.MEMBERS) == ["house/bake", "house/cook"]
    with pytest.raises(NotAllowed, match="Requires members access"):
        catalog.directory("skill://house/bake/notes", CALLERS[Tier.OPEN])


def test_a_hidden_skill_leaves_no_trace_in_any_directory():
    rule = Rule("shelf/resource:skill://secret/bake/*", Tier.MEMBERS, hidden=True)
    catalog = _catalog(_skill("secret/bake", "a.md"), _skill("house/cook"), rules=(rule,))
    for uri in ("skill://secret", "skill://secret/bake"):
        with pytest.raises(NotFound, match=f"{uri} is not a directory resource"):
            catalog.directory(uri, CALLERS[Tier.PUBLIC])
    with pytest.raises(NotFound, match="Unknown resource"):
        catalog.resource("skill://secret/bake/a.md", CALLERS[Tier.PUBLIC])
    with pytest.raises(NotFound, match="No skill is served at"):
        catalog.skill("skill://secret/bake/SKILL.md", CALLERS[Tier.PUBLIC])


def _nest(outer: Tier, inner: Tier, *, hidden: bool = False) -> Catalog:
    rules = (
        Rule("shelf/resource:skill://outer/SKILL.md", outer),
        Rule("shelf/resource:skill://outer/parts/inner/SKILL.md", inner, hidden=hidden),
    )
    files = ("own.md", "parts/inner/SKILL.md", "parts/inner/deep.md")
    nested = _skill("outer/parts/inner", "deep.md")
    return _catalog(_skill("outer", *files), nested, rules=rules)


def _seen(catalog: Catalog, tier: Tier) -> set[str]:
    """Everything that a caller is shown or may read of the nest, by any way."""
    caller, seen = CALLERS[tier], set()
    for item in catalog.listed("skill", caller):
        root = path_of(item.name.removesuffix("/SKILL.md"))
        seen |= {f"{root}/{file.path}" for file in catalog.files(item, caller)}
    for path in ("SKILL.md", "own.md", "parts/inner/SKILL.md", "parts/inner/deep.md"):
        try:
            catalog.resource(f"skill://outer/{path}", caller)
        except (NotFound, NotAllowed):
            assert f"outer/{path}" not in seen
        else:
            assert f"outer/{path}" in seen
    for directory in ("outer", "outer/parts", "outer/parts/inner"):
        try:
            children = catalog.directory(f"skill://{directory}", caller)
        except (NotFound, NotAllowed):
            continue
        for child in children:
            path = child["uri"].removeprefix("skill://")
            assert any(each == path or each.startswith(f"{path}/") for each in seen)
    return seen


@given(outer=st.sampled_from(list(Tier)), inner=st.sampled_from(list(Tier)), hidden=st.booleans())
def test_a_nested_skill_asks_for_the_strictest_tier_around_it(outer, inner, hidden):
    catalog = _nest(outer, inner, hidden=hidden)
    for tier in Tier:
        expected = set()
        if tier.allows(outer):
            expected |= {"outer/SKILL.md", "outer/own.md"}
        if tier.allows(max(outer, inner, key=lambda each: each.level)):
            expected |= {"outer/parts/inner/SKILL.md", "outer/parts/inner/deep.md"}
        assert _seen(catalog, tier) == expected


def test_a_nested_skill_s_file_is_read_from_the_innermost_that_lists_it():
    catalog = _nest(Tier.OPEN, Tier.OPEN)
    caller = CALLERS[Tier.OPEN]
    item, variables = catalog.resource("skill://outer/parts/inner/deep.md", caller)
    assert (item.name, variables["path"]) == ("skill://outer/parts/inner/SKILL.md", "deep.md")
    item, variables = catalog.resource("skill://outer/own.md", caller)
    assert (item.name, variables["path"]) == ("skill://outer/SKILL.md", "own.md")
    (entry,) = (
        e for e in catalog.directory("skill://outer/parts/inner", caller) if "desc" in str(e)
    )
    assert entry["name"] == "inner"


def test_a_plugin_s_own_endpoint_walks_its_own_skills_alone():
    catalog = _catalog(_skill("house/bake"))
    catalog.add("other", Offer(skills=[_skill("house/cook")]))
    caller = CALLERS[Tier.OPEN]
    assert _children(catalog, "skill://house") == ["house/bake", "house/cook"]
    (only,) = catalog.directory("skill://house", caller, "other")
    assert only["uri"] == "skill://house/cook"
    with pytest.raises(NotFound):
        catalog.resource("skill://house/bake/SKILL.md", caller, "other")
    with pytest.raises(NotFound):
        catalog.directory("skill://house/bake", caller, "other")


def test_a_neighbour_whose_name_begins_alike_is_no_part_of_a_skill():
    catalog = _catalog(_skill("bake", "x.md"), _skill("bake-off"), _skill("bake0"))
    assert _children(catalog, "skill://bake") == ["bake/SKILL.md", "bake/x.md"]
    with pytest.raises(NotFound):
        catalog.resource("skill://bake-off/x.md", CALLERS[Tier.OPEN])


def test_names_that_are_no_ascii_are_found_by_their_address():
    catalog = _catalog(_skill("house/bake", "Übersicht der Öfen.md", "100%.md"))
    uris = [each["uri"] for each in catalog.directory("skill://house/bake", CALLERS[Tier.OPEN])]
    assert "skill://house/bake/%C3%9Cbersicht%20der%20%C3%96fen.md" in uris
    assert "skill://house/bake/100%25.md" in uris
    for uri in [*uris, "skill://house/bake/Übersicht der Öfen.md"]:
        assert catalog.resource(uri, CALLERS[Tier.OPEN])[0].kind == "skill"


@pytest.mark.parametrize(
    "uri",
    [
        "skill://",
        "skill:///",
        "skill://house/",
        "skill://house/bake/",
        "skill://house//bake",
        "skill://house/../house/bake/SKILL.md",
        "skill://house/bake/%2e%2e/bake/SKILL.md",
        "skill://house%2Fbake/SKILL.md",
        "skill://house/bake/SKILL%2Emd",
        "skill://house/bake/\0",
        "skill://house/bake/%FF",
        "SKILL://house/bake/SKILL.md",
        "file://house/bake/SKILL.md",
        "skill://house" + "/x" * 50_000,
    ],
)
def test_addresses_that_were_not_given_out_lead_nowhere(uri):
    catalog = _catalog(_skill("house/bake"))
    for ask in (catalog.resource, catalog.directory, catalog.skill):
        with pytest.raises(NotFound):
            ask(uri, CALLERS[Tier.MEMBERS])


@given(st.text(max_size=30))
def test_addresses_and_paths_are_one_to_one(path):
    try:
        uri = uri_of(path)
    except UnicodeEncodeError:
        return
    assert path_of(uri) == path
    assert uri.isascii()


def test_a_catalog_s_rules_decide_anew_for_what_they_name():
    catalog = _nest(Tier.OPEN, Tier.OPEN)
    rules = TierRules((Rule("shelf/resource:skill://outer/SKILL.md", Tier.MEMBERS),))
    decided = dict(catalog.decisions(rules))
    assert decided["shelf/resource:skill://outer/parts/inner/SKILL.md"].tier is Tier.MEMBERS
    catalog.apply(rules)
    assert _listed(catalog, Tier.PUBLIC) == []


def test_an_enclosing_skill_that_comes_later_counts_for_those_inside_it():
    catalog = _catalog(_skill("outer/inner"))
    catalog.add("late", Offer(skills=[_skill("outer", tier=Tier.MEMBERS)]))
    assert _listed(catalog, Tier.PUBLIC) == []
    catalog.add("late", Offer())
    assert _listed(catalog, Tier.PUBLIC) == ["skill://outer/inner/SKILL.md"]


def lines_run(act: Callable[[], object]) -> int:
    """How many lines of Python something takes, whatever the machine's speed."""
    count, before = 0, sys.gettrace()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def test_a_thousand_skills_are_found_without_looking_at_all_of_them():
    skills = [_skill(f"house/part-{n % 10}/skill-{n}", "a.md", "b/c.md") for n in range(1000)]
    catalog, small = _catalog(*skills), _catalog(*skills[:10])

    def look_for(catalog: Catalog, n: int) -> Callable[[], object]:
        uri = f"skill://house/part-{n % 10}/skill-{n}/b/c.md"
        return lambda: catalog.resource(uri, CALLERS[Tier.OPEN])

    assert lines_run(look_for(catalog, 999)) <= 2 * lines_run(look_for(small, 9))
    assert len(_children(catalog, "skill://house")) == 10
    assert len(_children(catalog, "skill://house/part-3")) == 100


def test_an_empty_tree_holds_nothing():
    assert SkillTree().children("skill://house") == []
    assert SkillTree().file("skill://house/SKILL.md") is None
