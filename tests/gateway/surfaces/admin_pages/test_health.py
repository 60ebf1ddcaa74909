"""What needs an admin's hand, how everything is, and what is used."""

from __future__ import annotations

import re

import anyio
import pytest

from auth import Tier
from tests.gateway.surfaces.admin_pages.conftest import Looked


async def test_what_is_wrong_is_told_with_what_to_do(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await looked.admin()
    assert "The cache is away" not in (await browser.get("/admin/health")).text

    async def silent(_self: object) -> None:
        raise OSError("no route to redis://:hunter2hunter2@cache")

    monkeypatch.setattr(type(looked.portal.running.services.cache), "ready", silent)
    for path in ("/admin/health", "/admin"):
        text = (await browser.get(path)).text
        assert "The cache is away" in text
        assert "See that Redis is up" in text
        assert "hunter2" not in text


async def test_a_file_that_is_not_in_force_is_told_of_with_its_line(looked: Looked) -> None:
    browser = await looked.admin()
    (looked.portal.config_dir / "tiers.yaml").write_text("items: {garden: everyone}\n")
    looked.portal.running.tiers._reload()
    assert "tiers.yaml:1" in (await browser.get("/admin")).text
    assert "is not in force" in (await browser.get("/admin/tiers")).text


async def test_calls_are_seen_at_once_over_time_and_by_what(looked: Looked) -> None:
    browser = await looked.admin()
    for _ in range(3):
        await looked.portal.call("look", {"name": "north"}, tier="open")
    await looked.portal.call("water", tier="open")
    page = (await browser.get("/admin/usage?over=day&by=tool")).text
    assert "4 calls, 1 of them not ok" in page
    assert '<code>look</code></th><td class="number">3</td>' in page
    assert page.count("<svg") == 3 + 1  # with the portal's mark
    assert "4 calls, 1 not ok" in page
    by_tier = (await browser.get("/admin/usage?by=tier&item=look&tier=open&over=nonsense")).text
    assert f"<code>{Tier.OPEN}</code>" in by_tier
    assert "3 calls, 0 of them not ok" in by_tier
    with anyio.fail_after(30):  # the audit log is written behind the calls
        while "garden/water" not in (await browser.get("/admin")).text:
            pass


async def test_who_is_limited_is_named(looked: Looked) -> None:
    from sqlalchemy import insert

    from auth.stores import utc_now
    from gateway.observability.audit_table import audit
    from tests.gateway.observability.test_audit import record

    browser = await looked.admin()
    person = await looked.person("ana")
    limited = record(person=person.id, outcome="rate_limited", at=utc_now())
    async with looked.portal.running.services.shared_database.begin() as connection:
        await connection.execute(insert(audit), [limited._asdict()])
    for path in ("/admin", "/admin/usage"):
        page = (await browser.get(path)).text
        assert re.search(rf">{person.id}</a>: 1 call\b", page)
