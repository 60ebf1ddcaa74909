"""What the commands tell people, at every width."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.contract import Tier
from plugins.codegraph.commands import messages
from plugins.codegraph.model import FileReport
from plugins.codegraph.repositories.repository import Repository


def garden(tier: Tier = Tier.MEMBERS, *groups: str, given: bool = False) -> Repository:
    return Repository(
        id="0" * 16,
        org="portal",
        name="garden",
        kind="path",
        location="/srv/garden",
        branch=None,
        tier=tier,
        groups=groups,
        declared=False,
        tier_given=given,
    )


def found(**summary: Any) -> str:
    return "\n".join(messages.found(garden(), summary))


def next_steps(repository: Repository, *, first: bool = False) -> str:
    return " ".join(" ".join(messages.next_steps(repository, "pour", "URL", first=first)).split())


def test_one_is_not_told_as_several() -> None:
    said = found(files=1, lines=1, functions=1, classes=2, languages={"python": 1}, seconds=0.1)
    assert said.splitlines()[0] == "garden: 1 file, 1 line, 1 function, 2 classes, in 0.1 s."


@pytest.mark.parametrize("languages", [{}, {"markdown": 3}])
def test_a_directory_without_code_is_told_with_what_would_be_code(
    languages: dict[str, int],
) -> None:
    said = " ".join(found(files=3, lines=9, languages=languages).split())
    assert "No code was found in /srv/garden" in said
    assert "Python, TypeScript, JavaScript, Go, Java, Rust" in said
    assert "No code" not in found(files=1, languages={"go": 1, **languages})


def test_files_with_syntax_errors_are_one_kind() -> None:
    reasons = [
        {"reason": "1 syntax error, the first in line 2", "files": 61, "example": "a.ts"},
        {"reason": "2 syntax errors, the first in line 9", "files": 2, "example": "b.ts"},
        {"reason": "binary", "files": 1, "example": "c.png"},
    ]
    reasons = [{**each, "skipped": each["reason"] == "binary"} for each in reasons]
    said = found(files=70, languages={"typescript": 69}, reasons=reasons).splitlines()
    assert "In the graph in part: a.ts and 62 more: syntax errors" in said
    assert "Skipped: c.png: binary" in said
    alone = found(files=1, languages={"typescript": 1}, reasons=reasons[:1])
    assert "1 syntax error, the first in line 2" in " ".join(alone.split())


def test_problems_are_told_a_file_a_line_or_that_there_are_none() -> None:
    reports = [
        FileReport("a\nb.py", "", "python", 1, 1, "1 syntax error, the first in line 1"),
        FileReport("c.png", "", "", 0, 9, "binary", skipped=True),
    ]
    assert list(messages.problems("garden", reports)) == [
        "garden: 2 files not, or only in part, in the graph:",
        "  in part  a\\nb.py: 1 syntax error, the first in line 1",
        "  skipped  c.png: binary",
    ]
    assert list(messages.problems("garden", [])) == ["garden: every file is in the graph."]


def test_only_a_first_repository_has_a_client_connected_again() -> None:
    assert "connect it again" in next_steps(garden(), first=True)
    assert "connect it again" not in next_steps(garden())


def test_who_sees_it_is_told_and_what_would_open_it_where_nobody_chose() -> None:
    assert "added again with --tier open" in next_steps(garden())
    assert "--tier open" not in next_steps(garden(given=True))
    chosen = next_steps(garden(Tier.OPEN, "github_org:garden", given=True))
    assert "the tier open in github_org:garden" in chosen
    assert "--tier open" not in chosen
    assert "It is seen" not in next_steps(garden(Tier.OPEN, given=True))
    assert "for this machine alone" in next_steps(garden(Tier.OPEN))


def test_a_removal_without_rows_counts_none() -> None:
    assert "row" not in " ".join(messages.removed("garden", 0))
    assert " 1 row of it deleted." in " ".join(messages.removed("garden", 1))


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_text_fits_the_terminal_up_to_eighty_columns(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = [*messages.found(garden(), {"files": 1}), *messages.stopped("garden")]
    assert max(map(len, lines)) < min(columns, 80)
