"""Results are shown as a person likes to read them."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.cli.render import clean, folded, lines, show_result


def shown(value: Any) -> str:
    return "\n".join(lines(value))


def test_a_list_of_objects_becomes_cards() -> None:
    text = shown(
        {
            "results": [
                {
                    "title": "Who may use what",
                    "contentType": "practice",
                    "id": "who",
                    "date": "2026-01-02T00:00:00Z",
                    "score": 0.87123,
                    "passage": "Three tiers decide.",
                }
            ],
            "note": "Keyword search.",
        }
    )
    assert text == (
        " 1. Who may use what\n"
        "    practice · who · 2026-01-02 · score 0.87\n"
        "    Three tiers decide.\n"
        "\n"
        "note: Keyword search."
    )


@pytest.mark.parametrize("shape", ["{}", "See {} for more"])
def test_an_address_is_never_broken_in_two(shape: str) -> None:
    address = f"https://docs.example.org/{'-'.join(['a-long-word'] * 12)}"
    told = shape.format(address)
    assert address in shown({"results": [{"title": "A note", "permalink": told}]})
    assert address in shown({"permalink": told})
    assert any(address in line for line in folded(told, 4))


def test_an_empty_list_says_so() -> None:
    assert shown({"results": []}) == "Nothing found."
    assert shown({"docs": {}}) == "docs: none"
    assert "files none" in shown({"skills": [{"name": "bake", "files": []}]})
    assert shown({"stages": [], "openRuns": []}).splitlines()[::2] == ["stages", "open runs"]


def test_an_empty_list_with_a_note_is_the_note_alone() -> None:
    told = {"results": [], "note": "Indexing: 3 of 40 documents.", "total": 0}
    assert "Nothing found." not in shown(told)
    assert "Indexing: 3 of 40 documents." in shown(told)


def test_one_thing_is_told_before_the_lists_in_it() -> None:
    bed = {"stages": [{"name": "Dig"}], "warnings": [], "name": "Bed", "content": "A bed."}
    assert shown(bed) == "name: Bed\nA bed.\nstages:\n   1. Dig\n\nwarnings: none"


def test_what_has_no_value_takes_no_line() -> None:
    assert shown({"description": None, "content": "Dig."}) == "Dig."
    assert shown({"note": "", "content": "Dig."}) == "Dig."
    assert shown({"steps": [{"name": "Dig", "description": None, "extra": {}}]}) == " 1. Dig\n"


def test_what_begins_with_its_name_is_said_once_and_in_words() -> None:
    near = {"id": "mem_1", "seems": "seems_to_replace", "why": "", "content": "It is blue."}
    expected = " 1. mem_1\n    seems to replace\n    It is blue.\n"
    assert shown({"near": [near]}) == expected


def test_long_text_is_folded_and_keeps_its_own_lines() -> None:
    text = shown({"content": "word " * 60 + "\nnext line"})
    assert all(len(line) <= 96 for line in text.splitlines())
    assert text.splitlines()[-1] == "next line"


def test_nested_objects_are_indented_under_their_name() -> None:
    assert shown({"entry": {"term": "Hat", "aliases": ["role"]}, "found": True}) == (
        "entry:\n  term: Hat\n  aliases: role\nfound: yes"
    )


def test_values_of_any_other_shape_are_shown_too() -> None:
    assert shown([1, 2]) == "result: 1, 2"
    assert shown({"counts": {"a": 1}, "none": None}) == "counts:\n  a: 1"


def test_control_characters_never_reach_the_terminal() -> None:
    assert clean("a\x1b[2Jb\x00\x9bc") == "a[2Jbc"
    assert "\x1b" not in shown({"results": [{"title": "\x1b[31mred", "\x1b[1m": "\x1b[0m"}]})


def test_content_blocks_are_shown_where_there_is_no_structure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_result(
        {
            "content": [
                {"type": "text", "text": "Hello."},
                {"type": "image", "data": "x", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a://b", "text": "Inside."}},
                {"type": "resource_link", "uri": "a://c", "name": "c"},
            ]
        }
    )
    assert (
        capsys.readouterr().out == "Hello.\n[image: image/png]\nInside.\n[resource_link: a://c]\n"
    )
