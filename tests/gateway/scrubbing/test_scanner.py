"""Where secrets are found: in parts of a text, beside each other, and one in another."""

from __future__ import annotations

from random import Random

import pytest

from gateway.scrubbing.rule_files import Rule, shipped
from gateway.scrubbing.scanner import Scanner
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(1)).encode()
SOURCE = "https://example.org"
PART = 8 << 10


def rule(name: str, pattern: str, rank: int = 1, **more: object) -> Rule:
    return Rule(name, f"a {name}", pattern, SOURCE, rank, **more)  # type: ignore[arg-type]


def found(data: bytes, *rules: Rule) -> list[tuple[str, bytes, bytes]]:
    scanner = Scanner(rules)
    return [(each.rule.name, data[each.start : each.end], each.mark) for each in scanner.find(data)]


@pytest.mark.parametrize("size", [0, 1, PART - 45, PART - 20, PART - 1, PART, PART + 1, 3 * PART])
def test_a_secret_is_found_wherever_in_a_long_text_it_stands(size: int) -> None:
    scanner = Scanner(shipped())
    for filler in (b"a b\n", b"ab "):
        before = (filler * size)[:size] + b"\n"
        data = before + TOKEN + b"\n" + before + TOKEN
        spans = [(each.start, each.end) for each in scanner.find(data)]
        first, second = len(before), 2 * len(before) + len(TOKEN) + 1
        assert spans == [(first, first + len(TOKEN)), (second, second + len(TOKEN))]


def test_a_text_without_a_line_end_is_one_part() -> None:
    data = b"x " * PART + TOKEN
    (only,) = Scanner(shipped()).find(data)
    assert data[only.start : only.end] == TOKEN


def test_what_may_hold_a_secret_is_seen_at_once() -> None:
    scanner = Scanner(shipped())
    assert scanner.may_hold(b"see " + TOKEN)
    assert not scanner.may_hold(b"nothing to see here")
    assert scanner.find(b"") == []


def test_every_secret_of_a_line_is_found_from_the_first_to_the_last() -> None:
    a, b = rule("a", "a[0-9]+"), rule("b", "b[0-9]+")
    expected = [("b", b"b1", b"[REDACTED]"), ("a", b"a22", b"[REDACTED]")]
    assert found(b"b1 a22", a, b) == expected
    assert found(b"b1 a22", b, a) == expected
    assert [name for name, *_ in found(b"a1a2a3", a)] == ["a", "a", "a"]


def test_of_two_that_overlap_the_lower_rank_names_the_secret() -> None:
    vendor, general = rule("vendor", "key-[0-9]+", 1), rule("general", "[a-z]+-[0-9]+[!]", 3)
    assert [name for name, *_ in found(b"key-1234!", vendor, general)] == ["vendor"]
    assert [name for name, *_ in found(b"a key-1234!", general, vendor)] == ["vendor"]
    inner = rule("inner", "[0-9]+", 0)
    assert found(b"key-1234!", vendor, inner) == [("inner", b"1234", b"[REDACTED]")]


def test_of_two_of_one_rank_the_longer_or_the_earlier_names_the_secret() -> None:
    short, long = rule("short", "key-[0-9]"), rule("long", "key-[0-9]+")
    assert [name for name, *_ in found(b"key-1234", long, short)] == ["long"]
    assert [name for name, *_ in found(b"key-1234", short, long)] == ["short"]
    first, second = rule("first", "ab+"), rule("second", "b+c")
    assert [name for name, *_ in found(b"abbc", first, second)] == ["first"]
    assert [name for name, *_ in found(b"abbc", second, first)] == ["second"]
    assert [name for name, *_ in found(b"abbcab", second, first)] == ["second", "first"]


def test_secrets_that_touch_are_both_found() -> None:
    a, b = rule("a", "a[0-9]"), rule("b", "b[0-9]")
    assert [name for name, *_ in found(b"a1b2a3", a, b)] == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("pattern", "secret"),
    [
        ("key=(?P<secret>[a-z]+)", b"abc"),
        ("key=(?:'(?P<single>[a-z]+)'|(?P<secret>[a-z]+))", b"abc"),
        ("key=(?:'(?P<secret>[a-z]+)'|(?P<tick>[a-z]+))", b"abc"),
        ("key=[a-z]+", b"key=abc"),
    ],
)
def test_the_group_that_matched_is_the_secret_else_all_of_it(pattern: str, secret: bytes) -> None:
    assert found(b"a key=abc", rule("k", pattern)) == [("k", secret, b"[REDACTED]")]


def test_a_secret_must_be_random_enough_and_pass_the_check_of_its_rule() -> None:
    assert found(b"k aaaa abcd", rule("k", "[a-z]{4}", entropy=2.0)) == [
        ("k", b"abcd", b"[REDACTED]")
    ]
    assert found(b"k abab abcd", rule("k", "[a-z]{4}", entropy=1.0))[0][1] == b"abab"
    checked = rule("k", "k=(?P<secret>\\S+)", check="given", mark="[X]")
    assert found(b"k=${a} k=env:a k=abc", checked) == [("k", b"abc", b"[X]")]


def test_what_no_check_lets_through_hides_nothing_that_begins_in_it() -> None:
    checked = rule("k", "k=(?P<secret>\\S+)", check="given")
    assert found(b"k=${k=abc", checked) == [("k", b"abc", b"[REDACTED]")]


def test_a_block_is_found_whole_and_only_where_there_is_a_key() -> None:
    block = rule("key", "-----BEGIN PRIVATE KEY-----", 0, block=True)
    key = b"-----BEGIN PRIVATE KEY-----\n" + TOKEN[4:] + b"\n-----END PRIVATE KEY-----"
    mark = b"[REDACTED]\n[REDACTED]\n-[REDACTED]"  # as of a diff, where a line begins so
    assert found(b"a\n" + key + b"\nb\n" + key, block) == [("key", key, mark)] * 2
    assert found(b"'-----BEGIN PRIVATE KEY-----' in text", block) == []
