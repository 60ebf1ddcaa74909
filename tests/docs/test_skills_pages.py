"""The pages on skills: what they show of each kind, and what they tell to type."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import yaml

from gateway.cli import main
from plugins.skills_repo.config import SkillsRepoConfig

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "docs" / "admins" / "skills.md",
    ROOT / "docs" / "members" / "skills.md",
    ROOT / "plugins" / "skills_repo" / "README.md",
]
BLOCKS = {
    f"{page.parent.name}-{match[1]}-{number}": match[2]
    for page in PAGES
    for number, match in enumerate(re.finditer(r"```(yaml|sh)\n(.*?)```", page.read_text(), re.S))
}


def of(language: str) -> dict[str, str]:
    return {name: text for name, text in BLOCKS.items() if f"-{language}-" in name}


def commands_in(text: str) -> list[tuple[str, str]]:
    return re.findall(r"\bporch ([a-z-]+)(?: (?!--)([a-z_]+))?", text)


def test_the_admin_s_page_shows_each_kind_each_credential_and_both_operators() -> None:
    sections = [
        SkillsRepoConfig.model_validate(yaml.safe_load(text)["plugins"]["skills_repo"])
        for text in of("yaml").values()
        if "plugins:" in text
    ]
    sources = [source for section in sections for source in section.sources]
    assert {source.kind for source in sources} == {"skills", "agents", "docs"}
    assert {source.credential for source in sources} == {"none", "app", "caller"}
    assert any(section.github.app for section in sections)
    assert any(section.github.token for section in sections)
    assert any(section.github.webhook_secret for section in sections)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_the_commands_are_ones_that_there_are(page: Path) -> None:
    context = main.make_context("porch", ["check"])
    for command, word in commands_in(page.read_text()):
        assert command in main.list_commands(context), command
        if command == "skills" and word:
            group = main.get_command(context, command)
            assert isinstance(group, click.Group)
            assert word in group.list_commands(context), word
