"""Which repositories there are, and who may see which."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ANONYMOUS, Database, Tier, ToolFailed
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.repositories.declarations import declare
from plugins.codegraph.repositories.registry import NameTaken, Repositories, UnknownRepository
from plugins.codegraph.repositories.repository import PORTAL, Draft, Repository
from tests.plugins.codegraph.repositories.parts import World, caller, world

GROUPS = ("team:a", "team:b", "hat:1")


@pytest.fixture
def there(database: Database, tmp_path: Path) -> World:
    return world(database, tmp_path / "copies")


async def test_a_repository_is_added_listed_and_found(there: World) -> None:
    added = await there.add("garden", "/srv/garden")
    assert (added.org, added.tier, added.layer) == (PORTAL, Tier.MEMBERS, None)
    assert len(added.id) == 16
    assert str(added.state) == "waiting to be indexed"
    assert await there.repositories.get("garden") == added
    assert [each.name for each in await there.repositories.all()] == ["garden"]


async def test_the_organisation_is_the_portal_unless_a_group_is_named(there: World) -> None:
    grouped = await there.add("grouped", "/srv/grouped", groups=("team:a", "team:b"))
    assert grouped.org == "team:a"


async def test_a_name_or_a_place_that_is_taken_says_whose_it_is(there: World) -> None:
    await there.add("garden", "/srv/garden")
    with pytest.raises(NameTaken, match="another name with --name"):
        await there.add("Garden", "/srv/other")
    with pytest.raises(NameTaken, match="is there already, as garden"):
        await there.add("other", "/srv/garden")


async def test_of_two_that_are_added_at_once_one_wins(
    there: World, open_another: Callable[[], Database]
) -> None:
    other = Repositories(open_another(), there.clock)
    drafts = [Draft("garden", "path", "/srv/garden")] * 2
    both = zip((there.repositories, other), drafts, strict=True)
    results = await asyncio.gather(*(r.add(d) for r, d in both), return_exceptions=True)
    assert sorted(isinstance(each, NameTaken) for each in results) == [False, True]
    assert len(await other.all()) == 1


async def test_a_removed_one_is_seen_by_nobody_and_its_name_is_free(there: World) -> None:
    first = await there.add("garden", "/srv/garden")
    await there.repositories.visible(caller(Tier.MEMBERS))
    await there.repositories.remove("garden", "person:b")
    assert await there.repositories.visible(caller(Tier.MEMBERS)) == []
    assert await there.repositories.by_id(first.id) is None
    with pytest.raises(UnknownRepository, match="no repository 'garden'"):
        await there.repositories.remove("garden")
    assert (await there.add("garden", "/srv/garden")).id != first.id


async def test_the_only_one_need_not_be_named(there: World) -> None:
    who = caller(Tier.MEMBERS)
    with pytest.raises(ToolFailed, match="no repository that you may see"):
        await there.repositories.named(who, None)
    await there.add("garden", "/srv/garden")
    await there.add("secret", "/srv/secret", groups=("team:a",))
    there.clock.passes(seconds=2)
    there.repositories._read = None
    assert (await there.repositories.named(who, None)).name == "garden"
    assert (await there.repositories.named(who, "GARDEN")).name == "garden"


async def test_a_name_that_is_wrong_or_hidden_gets_the_same_answer(there: World) -> None:
    for name, groups in (("garden", ()), ("gardens", ()), ("secret", ("team:a",))):
        await there.add(name, f"/srv/{name}", groups=groups)
    who = caller(Tier.MEMBERS)
    with pytest.raises(ToolFailed, match="garden, gardens") as unnamed:
        await there.repositories.named(who, None)
    assert "secret" not in unnamed.value.message
    answers = []
    for name in ("secret", "sacred"):
        with pytest.raises(ToolFailed) as failed:
            await there.repositories.named(who, name)
        answers.append((failed.value.code, failed.value.message.replace(name, "*")))
    assert answers[0] == answers[1]
    with pytest.raises(ToolFailed, match=r"Is gardens? or gardens? meant"):
        await there.repositories.named(who, "gardenz")


def repository(tier: Tier, groups: tuple[str, ...]) -> Repository:
    return Repository("1", "portal", "garden", "path", "/", None, tier, groups, False)


TIERS = st.sampled_from(list(Tier))
SOME = st.sets(st.sampled_from(GROUPS)).map(tuple)


@given(TIERS, SOME, TIERS, SOME)
def test_it_takes_the_tier_and_one_of_the_groups_to_see_one(
    tier: Tier, groups: tuple[str, ...], of: Tier, has: tuple[str, ...]
) -> None:
    seen = repository(tier, groups).seen_by(caller(of, *has))
    assert seen == (of >= tier and (not groups or bool(set(groups) & set(has))))
    assert not repository(Tier.MEMBERS, groups).seen_by(ANONYMOUS)


@pytest.mark.parametrize("default", list(Tier))
async def test_a_repository_that_names_no_tier_has_the_portals_default(
    there: World, default: Tier
) -> None:
    plain = Draft("plain", "path", "/srv/plain")
    said = Draft("said", "path", "/srv/said", tier=Tier.PUBLIC)
    registry = Repositories(there.repositories._database, there.clock, default)
    for draft in (plain, said):
        await registry.add(draft)
    found = {each.name: each for each in await registry.all()}
    assert (found["plain"].tier, found["said"].tier) == (default, Tier.PUBLIC)
    assert found["plain"].local == (default is Tier.OPEN)
    assert not found["said"].local


def section(*declared: Mapping[str, object]) -> CodegraphConfig:
    return CodegraphConfig.model_validate({"repositories": list(declared)})


async def test_what_portal_yaml_declares_is_there_and_nothing_else_of_it(
    there: World, tmp_path: Path
) -> None:
    await there.add("by-hand", "/srv/by-hand")
    one, two = {"path": str(tmp_path / "one")}, {"url": "https://example.org/plants/two.git"}
    assert await declare(there.repositories, section(one, two)) == []
    found = {each.name: each for each in await there.repositories.all()}
    assert set(found) == {"by-hand", "one", "two"}
    assert (found["two"].kind, found["one"].declared) == ("git", True)
    await declare(there.repositories, section({**one, "tier": "public"}))
    after = {each.name: each for each in await there.repositories.all()}
    assert set(after) == {"by-hand", "one"}
    assert (after["one"].id, after["one"].tier) == (found["one"].id, Tier.PUBLIC)


async def test_a_declaration_of_what_was_added_by_hand_counts(there: World, tmp_path: Path) -> None:
    added = await there.add("one", (tmp_path / "one").resolve())
    assert await declare(there.repositories, section({"path": str(tmp_path / "one")})) == []
    assert (await there.repositories.get("one")).declared
    assert (await there.repositories.get("one")).id == added.id


async def test_a_declaration_that_cannot_be_carried_out_is_told(
    there: World, tmp_path: Path
) -> None:
    await there.add("one", "/srv/elsewhere")
    problems = await declare(there.repositories, section({"path": str(tmp_path / "one")}))
    assert problems == [
        "repositories: one: /srv/elsewhere is called one already. "
        "Give this one another name with --name."
    ]
