"""Only a setting that says how notes are read has them read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.plan import Planner
from plugins.knowledge.sync.sources import DirectorySource
from plugins.knowledge.sync.sync import SETTINGS_NOT_READ, rules_of

CHANGED: dict[str, Any] = {
    "memory": {"enabled": False},
    "github": {"api_url": "https://github.example.org/api/v3"},
    "schedule": "0 * * * *",
    "review_days": {"practice": 300},
    "resource_namespace": "other",
}
"""Another value for each setting that changes nothing about how a note is read."""


def read_again(notes: Path, before: dict[str, Any], after: dict[str, Any]) -> int:
    """How many notes are read again where the section changes; each is of the one source."""

    def planned(settings: dict[str, Any], known: Manifest) -> tuple[Planner, str]:
        own = {"directory": notes} | settings.get("source", {})
        section = {name: value for name, value in settings.items() if name != "source"}
        config = KnowledgeConfig.model_validate(section | {"sources": [own]})
        source = DirectorySource(config.sources[0], config.types, config.max_note)
        rules = rules_of(config)
        return Planner(known, [(source, source.scan())], rules, ""), rules

    planner, rules = planned(before, Manifest())
    files = planner.plan().files
    return len(planned(after, Manifest(rules=rules, files=files))[0].needed())


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for number in range(3):
        (tmp_path / f"a{number}.md").write_text("---\npublish: true\n---\n# Note")
    return tmp_path


@pytest.mark.parametrize("name", sorted(SETTINGS_NOT_READ))
def test_a_setting_that_says_nothing_of_how_notes_are_read_has_none_read(
    notes: Path, name: str
) -> None:
    assert read_again(notes, {}, {name: CHANGED[name]}) == 0


def test_where_drafts_would_lie_has_notes_read_again_only_where_there_are_any(
    notes: Path,
) -> None:
    elsewhere = {"source": {"drafts_folder": "proposed"}}
    assert read_again(notes, {}, elsewhere) == 0
    drafting = {"source": {"drafts": True}}
    assert read_again(notes, drafting, {"source": drafting["source"] | elsewhere["source"]}) == 3


def test_a_setting_that_says_how_notes_are_read_has_all_read_again(notes: Path) -> None:
    assert read_again(notes, {}, {"types": {"concept": "tag"}}) == 3
    assert read_again(notes, {}, {"source": {"publish": "all"}}) == 3
