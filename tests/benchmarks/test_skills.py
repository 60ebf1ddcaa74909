"""The benchmark of skills counts right answers only, from real copies in a real portal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import skills
from benchmarks.load import Figures
from benchmarks.skill_library import indexed, write_skills
from benchmarks.wire import SKILL, SKILLS, Checker, Kind


def _answer(value: dict[str, Any], number: int = 1, text: Any = None) -> bytes:
    said = value["content"] if "content" in value else json.dumps(value)
    said = said if text is None else text
    result = {"content": [{"type": "text", "text": said}], "structuredContent": value}
    return json.dumps({"id": number, "result": result}, separators=(",", ":")).encode()


RIGHT = {"name": SKILL, "content": "# Review"}
LISTED = {"data": [{}], "pagination": {"totalCount": SKILLS}}


@pytest.mark.parametrize(
    ("kind", "value"),
    [("get_skill", RIGHT), ("get_skill_anew", RIGHT), ("list_skills", LISTED)],
)
def test_a_right_skill_or_list_passes_as_often_as_it_stays_the_same(
    kind: Kind, value: dict[str, Any]
) -> None:
    check = Checker(kind)
    check(_answer(value, 1), 1)
    check(_answer(value, 2), 2)


def test_a_skill_that_was_read_more_often_meanwhile_is_the_same() -> None:
    check = Checker("get_skill")
    for number in (1, 2):
        check(_answer(RIGHT | {"uses": {"days": 30, "times": number, "people": 0}}, number), number)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("get_skill", _answer(RIGHT | {"name": "other"})),
        ("get_skill", _answer(RIGHT | {"content": ""})),
        ("get_skill", _answer(RIGHT, text="# Else")),
        ("list_skills", _answer({"data": [{}], "pagination": {"totalCount": 1}})),
        ("skills", b'{"id":1,"result":{"skills":[]}}'),
    ],
)
def test_a_wrong_skill_or_a_short_list_is_refused(kind: Kind, body: bytes) -> None:
    with pytest.raises(ValueError, match="wrong answer to request 1"):
        Checker(kind)(body, 1)


def _figures(rate: float) -> list[Figures]:
    return [Figures(rate, 1.0, 2.0, 100.0)]


@pytest.mark.parametrize(
    ("kind", "verdict"), [("get_skill", "missed"), ("get_skill_anew", ""), ("skills", "")]
)
def test_the_bar_is_about_a_warm_read(kind: Kind, verdict: str) -> None:
    found = {"porch": _figures(790.0), "bare": _figures(1000.0)}
    [_, _, row] = skills.compared(kind, "modern at 1", found)
    assert row.value == pytest.approx(0.79)
    assert row.verdict == verdict


def test_copies_have_names_of_their_own_and_all_their_files(tmp_path: Path) -> None:
    real = tmp_path / "real"
    for name in ("pdf", "csv"):
        (real / name / "more").mkdir(parents=True)
        (real / name / "SKILL.md").write_text(f"---\nname: {name}\n---\nname: stays")
        (real / name / "more" / "a.txt").write_text("a")
    write_skills(real, tmp_path / "skills", 3)
    assert sorted(each.name for each in (tmp_path / "skills").iterdir()) == [
        "csv-1",
        "csv-2",
        "pdf-1",
    ]
    copy = tmp_path / "skills" / "csv-2"
    assert (copy / "SKILL.md").read_text() == "---\nname: csv-2\n---\nname: stays"
    assert (copy / "more" / "a.txt").read_text() == "a"


def test_an_index_in_a_process_of_its_own_has_figures(tmp_path: Path) -> None:
    for number in range(3):
        page = tmp_path / "repo" / "docs" / f"page-{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("# Page")
    found = indexed(tmp_path, "docs")
    assert (found["files"], found["entries"]) == (3, 3)
    assert found["seconds"] > 0
    with pytest.raises(RuntimeError, match="index of skills"):
        indexed(tmp_path, "skills")
