"""Links to workflows: made by a form or a tool, opened by whoever has one, ended, closed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest
import yaml

from gateway.testing import TestPortal
from plugins.workflows import limits
from plugins.workflows.store.links import KEPT_AFTER_THE_END, Links
from tests.gateway.surfaces.views.painted import EVIL
from tests.plugins.workflows.playing import ALL_PUBLISH, ANYONE, done, opened, refused, stage
from tests.plugins.workflows.test_pages import BASE, Person

MEMBERS_BUT_BEN = {"access": {"members": {"any_of": [{"address": f"0x{'1' * 40}"}]}}}


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ana", "ben") as portal:
        yield portal


async def own_workflow(portal: TestPortal, **more: Any) -> str:
    """The id of a workflow of Ana's, hers alone."""
    fields = {"name": "Prune the trees", "stages": [stage("One", "Two")]} | more
    return str((await done(portal, "ana", "add_workflow", **fields))["id"])


async def linked(portal: TestPortal, flow: str, **more: Any) -> dict[str, Any]:
    """A link that Ana has made."""
    return await done(portal, "ana", "create_workflow_link", workflow_id=flow, **more)


def rule(portal: TestPortal, tiers: dict[str, Any]) -> None:
    """Put other rules in force."""
    file = portal.config_dir / "tiers.yaml"
    file.write_text(yaml.safe_dump(tiers))
    assert portal.running.tiers._reload()
    portal.running.authentication.resolver.apply(portal.running.tiers.access)
    portal.running.catalog.apply(portal.running.tiers.current)


async def test_whoever_has_a_link_reads_the_workflow_and_nothing_else(portal: TestPortal) -> None:
    flow = await own_workflow(portal)
    made = await linked(portal, flow)
    for who in (ANYONE, "ben"):
        shown = await done(portal, who, "open_workflow_link", link=made["address"])
        assert shown["name"] == "Prune the trees"
        assert [each["content"] for each in shown["stages"][0]["items"]] == ["Do One.", "Do Two."]
        assert not any(each["mine"] for each in shown["stages"][0]["items"])
        assert "id" not in shown
        assert "private" in await refused(portal, who, "get_workflow", workflow_id=flow)
    secret = made["address"].rpartition("=")[2]
    assert len(secret) >= 43
    assert (await done(portal, ANYONE, "open_workflow_link", link=secret)) == shown


async def test_only_the_owner_makes_a_link_and_for_thirty_days_at_most(portal: TestPortal) -> None:
    flow = await own_workflow(portal, visibility="PUBLIC")
    given = {"workflow_id": flow}
    assert "not yours" in await refused(portal, "ben", "create_workflow_link", **given)
    assert "days" in await refused(portal, "ana", "create_workflow_link", **given, days=31)
    assert "days" in await refused(portal, "ana", "create_workflow_link", **given, days=0)
    made = await linked(portal, flow, days=30)
    lasts = datetime.fromisoformat(made["expiresAt"]) - datetime.fromisoformat(made["madeAt"])
    assert lasts == timedelta(days=30)


async def test_a_link_is_listed_and_ended_by_its_maker_alone(portal: TestPortal) -> None:
    flow = await own_workflow(portal)
    made = await linked(portal, flow)
    assert "not found" in await refused(portal, "ben", "end_workflow_link", id=made["id"])
    assert (await done(portal, "ben", "list_workflow_links"))["links"] == []
    (listed,) = (await done(portal, "ana", "list_workflow_links"))["links"]
    assert listed == {name: made[name] for name in listed}
    assert made["address"].rpartition("=")[2] not in str(listed)
    ended = await done(portal, "ana", "end_workflow_link", id=made["id"])
    assert ended["endedAt"]
    again = await done(portal, "ana", "end_workflow_link", id=made["id"])
    assert again == ended
    told = await refused(portal, ANYONE, "open_workflow_link", link=made["address"])
    assert "This link ended on" in told
    assert "Ask ana for another one" in told


async def test_a_link_whose_time_is_up_says_so_until_it_is_forgotten(
    portal: TestPortal,
) -> None:
    flow = await own_workflow(portal)
    made = await linked(portal, flow, days=1)
    ends = datetime.fromisoformat(made["expiresAt"])
    links = Links(database_of(portal), lambda: ends)
    found = await links.of_secret(made["address"].rpartition("=")[2])
    assert found is not None
    assert found.end(ends - timedelta(seconds=1)) is None
    assert found.end(ends) == ends
    assert await links.sweep() == 0
    later = Links(database_of(portal), lambda: ends + KEPT_AFTER_THE_END + timedelta(seconds=1))
    assert await later.sweep() == 1
    told = await refused(portal, ANYONE, "open_workflow_link", link=made["address"])
    assert "There is no such link" in told


def database_of(portal: TestPortal) -> Any:
    return portal.running.services.for_plugin("workflows").database


async def test_of_its_secret_there_is_only_the_digest(
    portal: TestPortal, capfd: pytest.CaptureFixture[str]
) -> None:
    flow = await own_workflow(portal)
    made = await linked(portal, flow)
    secret = made["address"].rpartition("=")[2]
    await done(portal, ANYONE, "open_workflow_link", link=made["address"])
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=portal.app), base_url=BASE
    ) as client:
        assert (await client.get(f"/workflows/shared?link={secret}")).status_code == 200
        assert (await client.get(f"/workflows/shared?link={secret}x")).status_code == 404
    kept = [each for each in portal.running.services.data_dir.rglob("*") if each.is_file()]
    assert kept
    for file in kept:
        assert secret.encode() not in file.read_bytes(), file
    printed = capfd.readouterr()
    assert secret not in printed.out + printed.err


async def test_a_link_shows_nothing_that_the_rules_have_closed_to_its_maker_since(
    portal: TestPortal,
) -> None:
    flow = await own_workflow(portal)
    link = {"link": (await linked(portal, flow, tier="members"))["address"]}
    await done(portal, ANYONE, "open_workflow_link", **link)
    closed = "have closed this workflow"
    reading = {"items": {"workflows/get_workflow": "members"}}
    rule(portal, {**ALL_PUBLISH, **reading})
    await done(portal, ANYONE, "open_workflow_link", **link)
    rule(portal, {**MEMBERS_BUT_BEN, **reading})  # Ana is a member no more
    assert closed in await refused(portal, ANYONE, "open_workflow_link", **link)
    rule(portal, {**MEMBERS_BUT_BEN, "items": {f"workflows/workflow:{flow}": "members"}})
    assert closed in await refused(portal, ANYONE, "open_workflow_link", **link)
    rule(portal, ALL_PUBLISH)
    await done(portal, ANYONE, "open_workflow_link", **link)


async def test_a_link_never_goes_above_its_tier(portal: TestPortal) -> None:
    flow = await own_workflow(portal)
    link = {"link": (await linked(portal, flow))["address"]}
    rule(portal, {**ALL_PUBLISH, "items": {f"workflows/workflow:{flow}": "public"}})
    assert "have closed" in await refused(portal, ANYONE, "open_workflow_link", **link)
    assert "have closed" in await refused(portal, "ana", "open_workflow_link", **link)
    told = await refused(portal, "ana", "create_workflow_link", workflow_id=flow)
    assert "to nobody of the tier open" in told
    await linked(portal, flow, tier="public")
    rule(portal, {**MEMBERS_BUT_BEN, "items": {"workflows/create_workflow_link": "public"}})
    told = await refused(portal, "ana", "create_workflow_link", workflow_id=flow, tier="members")
    assert "goes no further" in told


async def test_a_link_to_what_is_deleted_shows_nothing_until_it_is_restored(
    portal: TestPortal,
) -> None:
    flow = await own_workflow(portal)
    link = {"link": (await linked(portal, flow))["address"]}
    await done(portal, "ana", "edit_workflow", workflow_id=flow, version=1, is_active=False)
    told = await refused(portal, ANYONE, "open_workflow_link", **link)
    assert "was deleted. Ask ana" in told
    await done(portal, "ana", "restore_workflow", id=flow)
    await done(portal, ANYONE, "open_workflow_link", **link)
    await done(portal, "ana", "edit_workflow", workflow_id=flow, version=3, is_active=False)
    await done(portal, "ana", "erase_workflow", id=flow)
    assert "was deleted" in await refused(portal, ANYONE, "open_workflow_link", **link)


async def test_nobody_has_more_links_than_they_can_oversee(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_LINKS", 2)
    flow = await own_workflow(portal)
    first = await linked(portal, flow)
    await linked(portal, flow)
    told = await refused(portal, "ana", "create_workflow_link", workflow_id=flow)
    assert "2 open links" in told
    await done(portal, "ana", "end_workflow_link", id=first["id"])
    await linked(portal, flow)


async def test_who_deletes_their_account_takes_their_links_along(portal: TestPortal) -> None:
    flow = await own_workflow(portal, visibility="PUBLIC")
    link = {"link": (await linked(portal, flow))["address"]}
    data = portal.running.plugins.offers["workflows"].personal
    assert data is not None
    (ana,) = [
        each
        for each in await data.people()
        if any([file.path == "links.json" async for file in data.export(each)])
    ]
    await data.erase(ana)
    assert "no such link" in await refused(portal, ANYONE, "open_workflow_link", **link)


async def test_a_person_makes_a_link_by_a_form_sees_it_once_and_ends_it(
    portal: TestPortal,
) -> None:
    person = Person(portal.app, BASE)
    await person.sign_in()
    path = await person.written(EVIL)
    page = (await person.get(path)).text
    (links,) = re.findall(r'href="([^"]+/workflows/links[^"]+)"', page)
    links = links.removeprefix(BASE).replace("&amp;", "&")
    made = await person.sent(links, "Make a link", days="1", tier="open")
    assert "The link is made" in made.text
    (address,) = re.findall(r"http://localhost(/workflows/shared\?link=[\w-]{43})<", made.text)
    assert address not in (await person.get(links)).text, "it is shown once"
    stranger = Person(portal.app, BASE)
    shown = await stranger.get(address)
    assert shown.status_code == 200
    assert "Do <em>this</em>." in shown.text
    assert "<script>alert" not in shown.text
    assert '<form method="post"' not in shown.text
    ended = await person.sent(links, "End it now")
    assert "The link has ended" in ended.text
    gone = await stranger.get(address)
    assert gone.status_code == 410
    assert "This link ended on" in gone.text
    await person.aclose()
    await stranger.aclose()
