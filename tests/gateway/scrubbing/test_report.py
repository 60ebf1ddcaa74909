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


def test_the_sentence_is_this_one() -> None:
    assert sentence([OTHER]) == (
        "Redacted before use: npm access token in `env.TOKEN`. "
        "The portal passed on [REDACTED] in its place and kept nothing of it. "
        "If it is a real secret, keep it out of tool calls and have it replaced."
    )


def test_five_are_named_and_no_more_is_said() -> None:
    five = [Redaction("jwt", "JSON Web Token", "diff", line) for line in range(1, 6)]
    assert "more" not in sentence(five)
    assert "; and 1 more. " in sentence([*five, OTHER])


def test_a_long_name_is_cut_at_a_hundred_characters_and_odd_ones_are_replaced() -> None:
    odd = Redaction("jwt", "JSON Web Token", "`\n" + "x" * 99)
    assert f" in `  {'x' * 98}`. " in sentence([odd])
    assert header([odd]) == f'jwt;in="`?{"x" * 98}"'.encode()


def test_the_header_keeps_every_printable_character_but_those_that_end_a_string() -> None:
    assert header([Redaction("jwt", "k", 'a b~X"\\\x7f')]) == b'jwt;in="a b~X???"'
