"""Arguments: what is looked at by its name, and what is told of where it was."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gateway.scrubbing.opaque import opaque
from gateway.scrubbing.scrubber import Scrubber, texts_of
from tests.gateway.scrubbing.fakes import made

scrubber = Scrubber()
TOKEN = made("ghp_{alnum:36}", Random(1))
PASSWORD = "hunter22"


def told(raw: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(each.argument, each.line) for each in scrubber.arguments(raw)[1]]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"query": TOKEN}, [("query", None)]),
        ({"query": f"a\n{TOKEN}"}, [("query", 2)]),
        ({"list": ["x", TOKEN]}, [("list.1", None)]),
        ({"list": [[f"a\nb\n{TOKEN}\n{TOKEN}"]]}, [("list.0.0", 3), ("list.0.0", 4)]),
        ({"outer": {"inner": TOKEN}}, [("outer.inner", None)]),
        ({TOKEN: 1}, [("a name", None)]),
        ({"outer": {TOKEN: 1}}, [("outer", None)]),
        ({"password": PASSWORD}, [("password", None)]),
        ({"outer": {"password": PASSWORD}}, [("outer.password", None)]),
        ({"a": TOKEN, "b": [TOKEN]}, [("a", None), ("b.0", None)]),
    ],
    ids=range(10),
)
def test_a_redaction_says_in_which_argument_it_was(
    raw: dict[str, Any], expected: list[tuple[str, int | None]]
) -> None:
    assert told(raw) == expected


@pytest.mark.parametrize(
    ("name", "value", "cleaned"),
    [
        ("password", "abc12", "abc12"),
        ("password", "abc123", "[REDACTED]"),
        ("PASSWORD", "abc123", "[REDACTED]"),
        ("password_hint", "abc123", "abc123"),
        ("password", 'ab"c123', 'ab"c123'),
        ("password", "ab\nc123", "ab\nc123"),
        ("password", "a1!b" * 1023 + "a1!", "[REDACTED]"),
        ("password", "a1!b" * 1024, "a1!b" * 1024),
        ("note", PASSWORD, PASSWORD),
    ],
    ids=range(9),
)
def test_a_short_text_is_a_secret_under_a_telling_name(name: str, value: str, cleaned: str) -> None:
    assert scrubber.arguments({name: value})[0] == {name: cleaned}


def test_a_long_name_that_is_none_stays_and_takes_no_number() -> None:
    raw = {"a_name_of_more_than_twelve": TOKEN, "exactly_12__": "x"}
    cleaned, _ = scrubber.arguments(raw)
    assert list(cleaned) == list(raw)


def test_the_shortest_name_that_can_be_a_secret_is_looked_at() -> None:
    key = "AKIA" + made("{b32:16}", Random(3))
    assert list(scrubber.arguments({key: 1})[0]) == ["[REDACTED]"]
    three = scrubber.arguments({TOKEN: 1, TOKEN[::-1][:0] + made("ghp_{alnum:36}", Random(4)): 2})
    assert list(three[0]) == ["[REDACTED]", "[REDACTED] 2"]


def test_arguments_that_only_look_like_a_secret_are_the_same_object() -> None:
    for raw in ({"password": "example-1"}, {"key": "${KEY_1}"}, {}, {"a": 1, "b": None}):
        assert scrubber.arguments(raw)[0] is raw


def test_texts_of_two_arguments_are_not_taken_for_one() -> None:
    raw = {"a": "padding of it ghp_", "b": "a1b2" * 9}
    assert scrubber.arguments(raw) == (raw, [])


def test_half_of_a_character_beside_a_secret_changes_nothing() -> None:
    raw = {"a": "\ud800 and so on and on", "b": TOKEN}
    assert scrubber.arguments(raw)[0] == {"a": raw["a"], "b": "[REDACTED]"}


def test_what_is_opaque_is_not_even_collected() -> None:
    raw = {"blob": TOKEN}
    assert scrubber.arguments(raw, opaque(["blob"])) == (raw, [])
    kept = scrubber.arguments({"blob": TOKEN, "text": TOKEN}, opaque(["blob"]))[0]
    assert kept == {"blob": TOKEN, "text": "[REDACTED]"}
    inside = scrubber.arguments({"a": {"blob": TOKEN}, "b": {"x": [TOKEN]}}, opaque(["a.blob"]))[0]
    assert inside == {"a": {"blob": TOKEN}, "b": {"x": ["[REDACTED]"]}}


def test_arguments_whose_texts_are_known_are_not_collected_again() -> None:
    raw = {"query": TOKEN, "blob": TOKEN}
    assert texts_of(raw, opaque(["blob"])) == [TOKEN]
    assert scrubber.arguments(raw, texts=[]) == (raw, [])
    assert scrubber.arguments(raw, texts=[TOKEN])[1]
