"""The README keeps its promises: every requirement, every named test, every option."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from gateway.repositories import Github
from plugins.skills_repo import config
from plugins.skills_repo.config import SkillsRepoConfig

REQUIREMENTS = """
AUTH-001 AUTH-002 AUTH-003 AUTH-003a AUTH-004 CFG-001 CFG-002 SKILL-001 SKILL-002 SKILL-003
SKILL-004 SKILL-005 AGENT-001 AGENT-002 AGENT-003 DOC-001 DOC-002 DOC-003 DOC-004 SEC-001 SEC-002
ERR-001 ERR-002 BUILD-001 BUILD-002 BUILD-003 BUILD-004 BUILD-005 BUILD-006 INFRA-001 INFRA-002
INFRA-003
"""
HERE = Path(__file__).parent
TESTS = HERE.parents[1]
README = (Path(config.__file__).parent / "README.md").read_text("utf-8")
ROWS = {
    match[1]: (match[2], match[3])
    for match in re.finditer(r"^\| (REQ-[\w-]+) \| (.*?) \| (.*?) ?\|$", README, re.MULTILINE)
}


def test_every_requirement_has_its_row_and_no_other_does() -> None:
    assert set(ROWS) == {f"REQ-{each}" for each in REQUIREMENTS.split()}


@pytest.mark.parametrize("requirement", sorted(ROWS))
def test_each_requirement_names_a_test_that_is_there_or_why_it_is_not(requirement: str) -> None:
    what, tested = ROWS[requirement]
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tested)
    assert named or what.startswith("not applicable, because ")
    for file, test in named:
        path = HERE / file if (HERE / file).exists() else TESTS / file
        assert re.search(rf"^(?:async )?def {test}\(", path.read_text("utf-8"), re.M)


def _options(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        inner = [each for each in _parts(field.annotation) if _is_model(each)]
        if not inner:
            yield f"{above}{name}", field
        several = getattr(field.annotation, "__origin__", None) is tuple
        for each in inner:
            yield from _options(each, f"{above}{name}{'[]' if several else ''}.")


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


@pytest.mark.parametrize("option", [name for name, _ in _options(SkillsRepoConfig)])
def test_each_option_is_named_with_its_default(option: str) -> None:
    [row] = [
        line for line in README.splitlines() if line.startswith("| `") and f"`{option}`" in line
    ]
    assert len(row.split("|")) == 5


def test_defaults_are_those_that_are_written() -> None:
    written = {
        match[1]: match[2] for match in re.finditer(r"^\| `([\w.]+)` \| `([^`]+)` \|", README, re.M)
    }
    assert written == {
        "github.api_url": Github().api_url,
        "schedule": SkillsRepoConfig().schedule,
        "cache": f"{SkillsRepoConfig().cache.total_seconds() / 60:.0f}m",
        "max_file": f"{SkillsRepoConfig().max_file / 2**20:.0f}MiB",
    }
