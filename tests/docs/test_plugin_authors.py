"""The plugin author's guide: every block of code in it is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from auth import ANONYMOUS
from gateway.catalog.catalog import Catalog
from gateway.catalog.tier_rule import TierRules
from gateway.cli import main
from gateway.cli.new_plugin import write
from gateway.config.portal_keys import PortalConfig
from gateway.config.tiers_file import parse_rules
from gateway.contract import View, Write
from gateway.surfaces.views.drawing import environment
from gateway.surfaces.views.links import Links
from gateway.surfaces.views.writes import Goal, WriteForms
from gateway.testing import PluginContract, open_test_portal

PAGES = sorted((Path(__file__).parents[2] / "docs" / "plugin-authors").glob("*.md"))
WHOLE = "lending"
"""The page whose blocks are files of one package; ``test_lending.py`` runs them together."""
BLOCKS = [
    pytest.param(match[1], match[2], id=f"{page.stem}-{match[1]}-{number}")
    for page in PAGES
    for number, match in enumerate(re.finditer(r"```(\w*)\n(.*?)```", page.read_text(), re.S))
]
GUIDE = next(page for page in PAGES if page.stem == "README").read_text()


def of(language: str) -> list[Any]:
    alone = [block for block in BLOCKS if not str(block.id).startswith(f"{WHOLE}-")]
    return [block for block in alone if block.values[0] == language]


def module(code: str) -> ModuleType:
    made = ModuleType(f"guide_{abs(hash(code))}")
    exec(compile(code, "guide", "exec", dont_inherit=True), made.__dict__)
    return made


def test_every_block_is_in_a_language_that_is_tested() -> None:
    assert {block.values[0] for block in BLOCKS} == {"sh", "python", "yaml", "toml", "html"}


@pytest.mark.parametrize(("language", "code"), of("python"))
async def test_python_runs(language: str, code: str, tmp_path: Path) -> None:
    made = module(code)
    if hasattr(made, "porch_plugin"):
        await check(made)
    for name, value in vars(made).items():
        if name.startswith("test_"):
            await value()
        elif name.startswith("Test"):
            assert issubclass(value, PluginContract)
            await check(value.plugin, value.calls)


async def check(plugin: Any, calls: Any = ()) -> None:
    """Take a plugin of the guide through what can go wrong most easily."""
    suite = PluginContract()
    suite.plugin, suite.calls = plugin, dict(calls)
    await suite.test_opens_and_is_well()
    await suite.test_every_item_tells_what_it_is_for()
    await suite.test_results_are_as_declared()
    await suite.test_wrong_arguments_are_told_to_the_model()


async def test_the_guide_s_plugins_answer_as_it_says() -> None:
    sun, atlas = guide_plugin("sun"), guide_plugin("atlas")
    async with open_test_portal(sun, atlas, tiers=yaml_of("default:")) as portal:
        assert (await portal.call("days_of_sun", {"city": "Oslo"}, tier="open")).text == (
            "Oslo has 160 days of sun."
        )
        refused = await portal.call("days_of_sun", {"city": "Porto"}, tier="open")
        assert refused.text == "Nothing is known of Porto. Known are: lisbon, oslo."
        assert "find_cities" not in await portal.tools("open")
        found = await portal.call("find_cities", {"begins_with": "L"}, tier="public")
        assert found.structured == {"cities": ["Lisbon"], "tier": "public"}


async def test_the_guide_s_settings_reach_the_plugin() -> None:
    atlas = guide_plugin("atlas")
    config = yaml.safe_load(yaml_of("plugins:"))
    async with open_test_portal(atlas, config=config) as portal:
        assert (await portal.call("find_cities")).structured["cities"] == ["Porto", "Bergen"]


def guide_plugin(name: str) -> ModuleType:
    """The plugin of that name in the guide."""
    (code,) = (b.values[1] for b in of("python") if f'Plugin(name="{name}"' in str(b.values[1]))
    return module(str(code))


def yaml_of(start: str) -> str:
    (text,) = (block.values[1] for block in of("yaml") if str(block.values[1]).startswith(start))
    return str(text)


@pytest.mark.parametrize(("language", "text"), of("yaml"))
def test_yaml_is_what_an_admin_may_write(language: str, text: str) -> None:
    if "plugins" in yaml.safe_load(text):
        PortalConfig.model_validate(yaml.safe_load(text))
    else:
        parse_rules(text.encode(), "tiers.yaml")


@pytest.mark.parametrize(("language", "text"), of("html"))
def test_a_template_draws(language: str, text: str, tmp_path: Path) -> None:
    template = environment(tmp_path).from_string(text)
    links = Links(Catalog(TierRules()), "weather", "http://localhost", ANONYMOUS)
    view = View("forecast", "F", "find_forecast", tmp_path, writes=[Write("report_weather")])
    forms = WriteForms(view, links, Goal("find_forecast", {}), None)
    given = {"link": links.link, "form": links.form, "arguments": {"place": "Oslo"}}
    given |= {"write": forms.write, "then": forms.then, "may": lambda tool: True}
    answer = {"place": "Oslo", "taken": "2026-11-26T10:00:00Z", "text": "*Rain*", "next": "Bergen"}
    drawn = template.render(**given, result=answer)
    for shown in ("<h1>Oslo</h1>", "2026-11-26", "<em>Rain</em>", "Bergen"):
        assert shown in drawn
    assert "Oslo</h1>" not in template.render(**given)


@pytest.mark.parametrize(("language", "text"), of("toml"))
def test_toml_is_what_new_plugin_writes(language: str, text: str) -> None:
    named = tomllib.loads(text)["project"]["entry-points"]
    assert named.pop("porch.plugins") == {"weather": "porch_weather.plugin"}
    assert named in ({}, {"porch.commands": {"forecast": "porch_weather.plugin"}})


@pytest.mark.parametrize(("language", "text"), of("sh"))
def test_commands_are_ones_that_there_are(language: str, text: str) -> None:
    for line in text.splitlines():
        word, name, *_ = line.split()
        assert word in ("porch", "pip"), line
        if word == "porch":
            assert name in main.list_commands(main.make_context("porch", ["check"])), line


def test_the_first_steps_work_as_they_are_written(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "portal.yaml").write_text("services: {embedding: none}\n")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    first = next(block.values[1] for block in of("sh") if "new-plugin" in str(block))
    said = ""
    for line in str(first).splitlines():
        words = line.split()
        if words[0] == "porch":
            command = ["gateway.cli", *words[1:]]
        else:
            # As `pip install -e`, into a place of the test's own and without the network.
            command = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
            command += ["--disable-pip-version-check", "--target", str(installed), words[-1]]
        result = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, line + result.stdout + result.stderr
        said += result.stdout
    assert "The weather plugin." in said
    assert "This note came with the plugin." in said


def test_the_guide_names_the_files_that_are_written(tmp_path: Path) -> None:
    written = {path.relative_to(tmp_path).as_posix() for path in write("weather", tmp_path)}
    named = set(re.findall(r"^\| `([\w/.]+)`", GUIDE, re.M))
    assert named
    assert named <= written
