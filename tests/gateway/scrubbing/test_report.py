"""What callers are told of a redaction."""

from __future__ import annotations

from gateway.scrubbing.report import PREFIX, header, listed, sentence
from gateway.scrubbing.scrubber import Redaction

ONE = Redaction("jwt", "JSON Web Token", "diff", 12)
OTHER = Redaction("npm-token", "npm access token", "env.TOKEN")


def test_the_sentence_names_kind_argument_and_line() -> None:
    told = sentence([ONE, OTHER])
    assert told.startswith(
        f"{PREFIX}JSON Web Token in `diff`, line 12; npm access token in `env.TOKEN`. "
    )
    assert "have it replaced" in told


def test_the_sentence_stays_short_and_says_how_many_more() -> None:
    many = [Redaction("jwt", "JSON Web Token", "diff", line) for line in range(1, 300)]
    assert "; and 294 more. " in sentence(many)
    assert len(sentence(many)) < 500
    assert len(listed(many)) == 50


def test_the_same_place_is_said_once() -> None:
    assert sentence([ONE, ONE]) == sentence([ONE])


def test_a_name_that_a_caller_made_up_breaks_nothing() -> None:
    odd = Redaction("jwt", "JSON Web Token", 'a`\n"\\é' + "x" * 500)
    assert "\n" not in sentence([odd])
    assert sentence([odd]).count("`") == 2
    assert header([odd]).startswith(b'jwt;in="a`????')
    assert b"\n" not in header([odd])


def test_the_header_is_a_list_of_structured_fields() -> None:
    assert header([ONE, OTHER]) == b'jwt;in="diff";line=12, npm-token;in="env.TOKEN"'


def test_the_list_leaves_out_the_line_of_a_text_that_has_but_one() -> None:
    assert listed([ONE, OTHER]) == [
        {"kind": "JSON Web Token", "rule": "jwt", "argument": "diff", "line": 12},
        {"kind": "npm access token", "rule": "npm-token", "argument": "env.TOKEN"},
    ]
