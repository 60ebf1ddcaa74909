"""``porch check`` names everything an admin should mend."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from gateway import plugin_discovery
from gateway.cli.options import EXIT
from gateway.contract import Finding, Host, Offer, Plugin, PluginConfig, hookimpl
from gateway.services import clients
from tests.gateway.cli.conftest import PORTAL, TIERS, Run, served


def test_a_good_configuration_is_well(porch: Run) -> None:
    result = porch("check")
    assert result.exit_code == EXIT.DONE, result.output
    assert result.output == "All well.\n"
    assert not Path("data").exists()


def test_a_key_with_nothing_under_it_is_a_note(porch: Run) -> None:
    Path("config/portal.yaml").write_text(
        "services: {embedding: none}\nplugins:\n  knowledge:\n    sources:\n"
    )
    result = porch("check")
    assert result.exit_code == EXIT.DONE, result.output
    assert "note: config/portal.yaml:4: plugins.knowledge.sources: nothing stands" in result.output


def test_notes_are_counted_where_nothing_has_to_be_mended(porch: Run) -> None:
    Path("config/tiers.yaml").write_text(TIERS + "  greenhouse/a: open\n")
    result = porch("check")
    assert result.exit_code == EXIT.DONE, result.output
    assert result.output.endswith("\nNo problems, 1 note.\n")


def test_a_tier_key_that_matches_nothing_is_named_with_the_nearest(porch: Run) -> None:
    Path("config/tiers.yaml").write_text(TIERS + "  knowledge/serch_knowledge: public\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert (
        "config/tiers.yaml:6: knowledge/serch_knowledge: matches nothing that knowledge offers; "
        "did you mean knowledge/search_knowledge?" in result.output
    )


def test_mistakes_in_both_files_are_told_at_once(porch: Run) -> None:
    Path("config/tiers.yaml").write_text("default: member\n")
    Path("config/portal.yaml").write_text(PORTAL + "    sorces: []\n  wether: {}\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "config/tiers.yaml:1: default:" in result.output
    assert "config/portal.yaml:7: plugins.knowledge.sorces:" in result.output
    assert "config/portal.yaml:8: plugins.wether: unknown plugin" in result.output


def test_a_portal_file_that_cannot_be_read_hides_nothing_of_the_other(porch: Run) -> None:
    Path("config/tiers.yaml").write_text("default: member\n")
    Path("config/portal.yaml").write_text("name: [\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "config/tiers.yaml:1: default:" in result.output
    assert "config/portal.yaml:" in result.output


def test_keys_of_plugins_that_are_not_open_are_a_note(porch: Run) -> None:
    Path("config/tiers.yaml").write_text(TIERS + "  greenhouse/a: open\n  orchard: members\n")
    found = json.loads(porch("check", "--json").stdout)
    assert found["problems"] == []
    assert found["notes"] == [
        "tiers.yaml has keys for plugins that are not open: greenhouse, orchard"
    ]


def test_a_secret_that_is_not_there_is_named_by_its_line(porch: Run) -> None:
    Path("config/portal.yaml").write_text("services:\n  database: env:NO_SUCH_VARIABLE\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "config/portal.yaml:2: services.database:" in result.output
    assert "NO_SUCH_VARIABLE" in result.output


def test_a_plugin_that_cannot_open_is_told_and_not_tried_again(porch: Run) -> None:
    skills = (
        "  skills_repo:\n"
        "    sources: [{name: house, kind: skills, github: owner/house}]\n"
        "    github: {token: env:NO_SUCH_VARIABLE}\n"
    )
    Path("config/portal.yaml").write_text(PORTAL + skills)
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "NO_SUCH_VARIABLE is not set" in result.output
    assert "again" not in result.output
    assert "as soon as" not in result.output


def test_a_client_that_is_not_installed_is_named_by_its_line(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "find_spec", lambda package: None)
    Path("config/portal.yaml").write_text("services:\n  cache: redis://cache.example.org\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "config/portal.yaml:2: services.cache: The client for Redis is not" in result.output


@pytest.mark.parametrize(
    ("service", "setting", "reason"),
    [
        ("reranker", "Xenova/ms-marco-MiniLM-L-6-v2", "Fetch it once, with a network: python -m"),
        ("embedding", "BAAI/bge-small-en-v1.5", "Fetch it once, with a network: python -m"),
        ("embedding", "./nowhere", "it needs model.onnx and tokenizer.json."),
    ],
)
def test_a_model_without_which_the_portal_goes_on_is_named_by_its_line(
    porch: Run, monkeypatch: pytest.MonkeyPatch, service: str, setting: str, reason: str
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(Path("cache").absolute()))
    monkeypatch.delenv("PORCH_SERVICES__EMBEDDING", raising=False)
    Path("config/portal.yaml").write_text(f"services:\n  {service}: {setting}\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert f"config/portal.yaml:2: services.{service}: " in result.output
    assert reason in result.output


def test_a_running_portal_is_not_disturbed(place: Path, porch: Run) -> None:
    with served(place):
        assert porch("check").output == "All well.\n"


def test_schemas_are_written_and_compared(porch: Run) -> None:
    assert porch("schema", "--check").exit_code == EXIT.PROBLEM
    assert "wrote config/schema/portal.schema.json" in porch("schema").output
    assert porch("schema", "--check").exit_code == EXIT.DONE
    Path("config/schema/tiers.schema.json").write_text("{}")
    assert json.loads(porch("schema", "--check", "--json").stdout) == [
        "config/schema/tiers.schema.json"
    ]


class Beds(PluginConfig):
    beds: tuple[dict[str, str], ...] = Field((), description="Beds.")


def _plants(monkeypatch: pytest.MonkeyPatch, check: Any) -> None:
    """Install a plugin ``plants`` that checks its own section."""

    class Plants:
        @hookimpl
        def porch_plugin(self) -> Plugin:
            @asynccontextmanager
            async def opened(config: Beds, host: Host) -> AsyncGenerator[Offer]:
                yield Offer()

            return Plugin("plants", "Has beds.", opened, Beds, check=check)

    found = plugin_discovery.discover
    for module in ("gateway.cli.checkup", "gateway.assembly"):
        monkeypatch.setattr(f"{module}.discover", lambda modules=None: found([Plants()]))


BEDS = "plugins:\n  plants:\n    beds:\n      - {name: south}\n      - {name: south}\n"


def test_what_a_plugin_finds_in_its_section_is_told_by_line(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(config: Beds, host: Host) -> list[Finding]:
        assert host.plugin == "plants"
        assert host.data_dir.is_dir()
        assert await host.cache.get("nothing") is None
        names = [bed["name"] for bed in config.beds]
        return [
            Finding(("beds", 1, "name"), f"{names[1]} is the name of two beds; rename one."),
            Finding(("beds",), "There is room for more.", notice=True),
        ]

    _plants(monkeypatch, check)
    Path("config/portal.yaml").write_text(f"services: {{embedding: none}}\n{BEDS}")
    Path("config/tiers.yaml").write_text("default: open\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert result.output == (
        "config/portal.yaml:6: plugins.plants.beds[1].name: south is the name of two beds; "
        "rename one.\nnote: config/portal.yaml:4: plugins.plants.beds: There is room for more.\n"
        "1 problem, 1 note.\n"
    )
    assert not Path("data").exists()


@pytest.mark.parametrize("slow", [True, False])
def test_a_plugin_s_check_that_fails_is_a_problem_of_its_own(
    porch: Run, monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    async def check(config: Beds, host: Host) -> list[Finding]:
        await asyncio.sleep(60 if slow else 0)
        raise RuntimeError("no spade")

    monkeypatch.setattr("gateway.cli.checkup.CHECK_TIMEOUT_SECONDS", 0.05)
    _plants(monkeypatch, check)
    Path("config/portal.yaml").write_text(f"services: {{embedding: none}}\n{BEDS}")
    Path("config/tiers.yaml").write_text("default: open\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    why = "it took longer than 0.05 s" if slow else "RuntimeError: no spade"
    assert f"plants: its check failed: {why}\n" in result.output


def test_a_plugin_whose_section_is_wrong_is_not_asked(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def check(config: Beds, host: Host) -> list[Finding]:
        raise AssertionError("asked")

    _plants(monkeypatch, check)
    Path("config/portal.yaml").write_text("plugins:\n  plants: {bds: []}\n")
    Path("config/tiers.yaml").write_text("default: open\n")
    result = porch("check")
    assert "plugins.plants.bds" in result.output
    assert "asked" not in result.output


MODELS = """\
services:
  models:
    providers:
      main:
        kind: openai
        key: env:NO_SUCH_KEY
      spare:
        kind: anthropic
        key: env:NO_OTHER_KEY
    simple: main/gpt-5
"""


def test_a_models_key_that_is_not_there_is_named_by_its_line(porch: Run) -> None:
    Path("config/portal.yaml").write_text(MODELS)
    result = porch("check")
    assert "config/portal.yaml:6: services.models.providers.main.key: " in result.output
    assert "NO_SUCH_KEY" in result.output
    assert "NO_OTHER_KEY" not in result.output, "no role asks that one"


def test_models_whose_library_is_not_installed_are_named_by_their_line(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_SUCH_KEY", "sk-there")
    found = util.find_spec
    absent = {"openai"}
    monkeypatch.setattr(util, "find_spec", lambda name: None if name in absent else found(name))
    Path("config/portal.yaml").write_text(MODELS)
    result = porch("check")
    assert "config/portal.yaml:10: services.models.simple: " in result.output
    assert "make models" in result.output


def test_models_that_can_be_asked_are_no_problem(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_SUCH_KEY", "sk-there")
    Path("config/portal.yaml").write_text(MODELS)
    assert "services.models" not in porch("check").output
