"""``porch check``: what a section means, by the place of each source in it."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from gateway.contract import Finding
from plugins.skills_repo.check import check
from plugins.skills_repo.config import SkillsRepoConfig
from tests.gateway.scrubbing.fakes import made


async def findings(garden: Any, *sources: Any, **more: Any) -> list[Finding]:
    """The findings, asked of the plugin's own share of a portal that has these sources."""
    async with garden.opened(*sources, **more) as portal:
        section = garden.config(*sources, **more)["plugins"]["skills_repo"]
        config = SkillsRepoConfig.model_validate(section)
        host = portal.running.plugins.host("skills_repo")
        return list(await check(config, host))


async def test_a_section_in_order_has_nothing_to_find(garden: Any) -> None:
    garden.skill("pdf")
    garden.write("agents/pdf.md", "An agent may be called like a skill.")
    assert await findings(garden, garden.source("house"), garden.source("crew", "agents")) == []


async def test_two_sources_with_one_name_are_found_at_the_later_one(garden: Any) -> None:
    garden.skill("pdf")
    garden.skill("only-here")
    garden.skill("pdf", below="more")
    near = garden.source("house")
    for backend in ("local", "github"):
        far = garden.source("guests", path="more", backend=backend)
        found = await findings(garden, near, far)
        [clash] = [each for each in found if not each.notice]
        assert clash.location == ("sources", 1, "name")
        assert "the sources house and guests both offer pdf;" in clash.reason


async def test_places_that_are_not_there_are_found(garden: Any) -> None:
    gone = garden.source("gone", directory=str(garden.root / "nowhere"))
    folder = garden.source("folder", path="no/such")
    first, second = await findings(garden, gone, folder)
    assert (first.location, "is not there" in first.reason) == (("sources", 0, "directory"), True)
    assert (second.location, "no/such" in second.reason) == (("sources", 1), True)


async def test_a_callers_source_needs_the_operators_credential_for_its_index(
    garden: Any, monkeypatch: Any
) -> None:
    monkeypatch.setenv("OPERATORS_TOKEN", "ghp_operator")
    garden.github.tokens.add("ghp_operator")
    source = garden.source("house", backend="github", credential="caller")
    found = await findings(garden, source)
    assert [each.location for each in found if not each.notice] == [("sources", 0, "credential")]
    with_token = await findings(garden, source, github={"token": "env:OPERATORS_TOKEN"})
    assert [each.notice for each in with_token] == [True]


async def test_what_need_not_be_done_is_a_notice(garden: Any) -> None:
    found = await findings(garden, garden.source("house", backend="github"))
    assert [each.notice for each in found] == [True, True]
    assert "webhook_secret" in found[0].reason
    assert "60 requests an hour" in found[1].reason


async def test_a_secret_that_is_not_there_is_found_at_its_key(
    garden: Any, monkeypatch: Any
) -> None:
    monkeypatch.delenv("NO_SUCH_SECRET", raising=False)
    garden.skill("pdf")
    github = {"token": "env:NO_SUCH_SECRET", "webhook_secret": "env:NO_SUCH_SECRET"}
    found = await findings(garden, garden.source("house"), github=github)
    assert [each.location for each in found] == [("github", "token"), ("github", "webhook_secret")]
    assert "NO_SUCH_SECRET is not set" in found[0].reason


async def test_what_would_be_taken_out_is_a_notice_with_file_line_and_kind(garden: Any) -> None:
    token = made("ghp_{alnum:36}", Random(31))
    garden.skill("pdf", body=f"Send {token} along.")
    [found] = await findings(garden, garden.source("house"))
    assert (found.location, found.notice) == (("sources", 0), True)
    kind = "GitHub personal access token (classic)"
    assert re.fullmatch(rf"(.*/)?pdf/SKILL\.md:\d+: {re.escape(kind)}: taken out; .*", found.reason)
    assert token not in found.reason
