"""The pages on workflows: what they tell to type is there, and to call too."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import yaml

from gateway.cli import main
from plugins.workflows import limits
from plugins.workflows.config import WorkflowsConfig
from tests.plugins.workflows.playing import opened

ROOT = Path(__file__).parents[2]
README = ROOT / "plugins" / "workflows" / "README.md"
PAGES = [ROOT / "docs" / "admins" / "workflows.md", ROOT / "docs" / "members" / "workflows.md"]
PAGES.append(README)
BLOCKS = {
    f"{page.parent.name}-{number}": match[1]
    for page in PAGES
    for number, match in enumerate(re.finditer(r"```yaml\n(.*?)```", page.read_text(), re.S))
}


ARGUMENTS = {"is_active", "remove_stages", "not_kept"}
"""Words of calls and answers that members meet, and that are no tools."""


def test_the_tiers_on_the_admin_s_page_are_the_shipped_ones() -> None:
    shipped = yaml.safe_load((ROOT / "config" / "tiers.yaml").read_text())["items"]
    (shown,) = (
        yaml.safe_load(text)["items"] for text in BLOCKS.values() if text.startswith("items:")
    )
    assert shown == {key: tier for key, tier in shipped.items() if key.startswith("workflows")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_commands_are_ones_that_there_are(page: Path) -> None:
    context = main.make_context("porch", ["check"])
    named = re.findall(r"\bporch ([a-z-]+)(?: (?!--)([a-z]+))?", page.read_text())
    for command, word in named:
        assert command in main.list_commands(context), command
        if command == "workflows" and word:
            group = main.get_command(context, command)
            assert isinstance(group, click.Group)
            assert word in group.list_commands(context), word


async def test_the_readme_s_tools_and_their_tiers_are_those_that_are_offered() -> None:
    table = README.read_text().partition("## The tools")[2].partition("## Who sees")[0]
    named = {
        name: match[2]
        for match in re.finditer(r"^\| (`.*?`) \| (\w+) \|", table, re.M)
        for name in re.findall(r"`(\w+)`", match[1])
    }
    async with opened(tiers=None) as portal:
        tools = {tier: set(await portal.tools(tier)) for tier in ("open", "public", "members")}
    lowest = {name: next(t for t in tools if name in tools[t]) for name in tools["members"]}
    assert named == lowest


def test_the_tools_that_members_read_of_are_there() -> None:
    page = PAGES[1].read_text()
    table = README.read_text().partition("## The tools")[2].partition("## Who sees")[0]
    named = {name for name in re.findall(r"`([a-z]+_[a-z_]+)`", page) if name not in ARGUMENTS}
    assert named
    assert named <= set(re.findall(r"`(\w+)`", table))


def test_the_readme_s_limits_and_defaults_are_those_in_force() -> None:
    told = README.read_text()
    config = WorkflowsConfig()
    assert f"| `starter` | `{str(config.starter).lower()}` |" in told
    assert f"| `keep_runs` | `{config.keep_runs.days}d` |" in told
    assert f"| `keep_deleted` | `{config.keep_deleted.days}d` |" in told
    texts = (limits.MAX_NAME_CHARS, limits.MAX_FOLDER_NAME_CHARS, limits.MAX_TAG_CHARS)
    counts = (limits.MAX_TAGS, limits.MAX_STAGES, limits.MAX_STAGE_ITEMS)
    for shown in (
        f"{', '.join(map(str, texts))}, {limits.MAX_DESCRIPTION_CHARS:,} characters",
        f"{limits.MAX_CONTENT_CHARS:,} characters",
        f"{'; '.join(map(str, counts))}; {limits.MAX_PLAN_STEPS:,} |",
        f"{limits.MAX_ATTACHMENTS}; {limits.MAX_ATTACHMENT_BYTES // 2**20} MiB",
        f"{limits.MAX_FOLDER_DEPTH}; {limits.MAX_OPEN_RUNS} |",
    ):
        assert shown in told
