"""``porch check`` names everything an admin should mend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.cli.options import EXIT
from gateway.services import clients
from tests.gateway.cli.conftest import PORTAL, TIERS, Run, served


def test_a_good_configuration_is_well(porch: Run) -> None:
    result = porch("check")
    assert result.exit_code == EXIT.DONE, result.output
    assert result.output == "All well.\n"
    assert not Path("data").exists()


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
    Path("config/tiers.yaml").write_text(TIERS + "  codegraph: members\n  workflows/a: open\n")
    found = json.loads(porch("check", "--json").stdout)
    assert found["problems"] == []
    assert found["notes"] == [
        "tiers.yaml has keys for plugins that are not open: codegraph, workflows"
    ]


def test_a_secret_that_is_not_there_is_named_by_its_line(porch: Run) -> None:
    Path("config/portal.yaml").write_text("services:\n  database: env:NO_SUCH_VARIABLE\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "config/portal.yaml:2: services.database:" in result.output
    assert "NO_SUCH_VARIABLE" in result.output


def test_a_client_that_is_not_installed_is_named_by_its_line(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "find_spec", lambda package: None)
    Path("config/portal.yaml").write_text("services:\n  cache: redis://cache.example.org\n")
    result = porch("check")
    assert result.exit_code == EXIT.PROBLEM
    assert "config/portal.yaml:2: services.cache: The client for Redis is not" in result.output


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
