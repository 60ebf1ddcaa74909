"""What pages show of the configuration's files is taken as it stands there."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.catalog.catalog import Catalog
from gateway.cli.file_check import file_problems
from gateway.config.plans_file import PlansConfig, parse_plans
from gateway.config.portal import load_portal
from gateway.config.portal_keys import PortalConfig
from gateway.config.tiers_file import TiersConfig, check_keys, parse_tiers
from gateway.errors import ConfigError
from gateway.plugin_discovery import discover

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")]
OTHER_FILES = {"docs/admins/container.md", "docs/admins/health.md"}
"""Pages that show files of other programs too: the values of a Helm chart, prometheus.yml."""
LEFT_TO_WHO_PASTES = {
    "payments.stripe.secret_key",
    "payments.stripe.webhook_secret",
    "payments.chain.receiver",
}
"""Keys that a block leaves out because another of its page has them, or shows as 0x…"""
EXAMPLES = {"atlas", "sun", "my_plugin", "treasury", "github", "letters"}
"""Plugins that are not shipped, and stand for somebody's own."""


def blocks() -> Iterator[Any]:
    """Every whole block of YAML; not a part of one, which begins further in or with a dash."""
    for page in sorted(PAGES):
        text, name = page.read_text(), str(page.relative_to(ROOT))
        for found in re.finditer(r"^( *)```yaml\n(.*?)^\1```$", text, re.S | re.M):
            block = textwrap.dedent(found[2]) if found[1] else found[2]
            if not block.startswith((" ", "-")):
                line = text[: found.start()].count("\n") + 1
                yield pytest.param(name, block, id=f"{name}:{line}")


BLOCKS = list(blocks())


def belongs(block: str, keys: Collection[str]) -> bool:
    return set(yaml.safe_load(block)) <= set(keys)


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_a_block_is_read_as_the_file_that_it_is_of(page: str, block: str, tmp_path: Path) -> None:
    if belongs(block, TiersConfig.model_fields):
        parse_tiers(block.encode(), page)
    elif belongs(block, PlansConfig.model_fields):
        parse_plans(block.encode(), page)
    elif belongs(block, PortalConfig.model_fields):
        (tmp_path / "config").mkdir()
        (tmp_path / "config" / "portal.yaml").write_text(block)
        assert portal_problems(tmp_path / "config") <= LEFT_TO_WHO_PASTES
    else:
        assert page in OTHER_FILES


def portal_problems(directory: Path) -> set[str]:
    """The keys of a ``portal.yaml`` that are wrong, those of the plugins' sections too."""
    try:
        portal, found = load_portal(directory), discover()
    except ConfigError as error:
        return {each.key for each in error.problems}
    assert set(portal.config.plugins) <= {*found.plugins, *EXAMPLES}
    return {each.key for every in file_problems(portal, found).sections.values() for each in every}


RULES = [each for each in BLOCKS if belongs(str(each.values[1]), TiersConfig.model_fields)]


@pytest.mark.parametrize(("page", "block"), RULES)
def test_a_line_for_an_item_names_one_that_there_is(
    page: str, block: str, catalog: Catalog
) -> None:
    rules = parse_tiers(block.encode(), page).items
    found = check_keys(rules, catalog.keys(), catalog.plugins(), catalog.row_kinds)
    assert not found.problems
    assert {each.key.partition("/")[0] for each in found.notices} <= EXAMPLES
