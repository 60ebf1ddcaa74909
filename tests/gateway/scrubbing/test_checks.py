"""What tells a secret from a word, a hash or an expression."""

from __future__ import annotations

from random import Random

import pytest

from gateway.scrubbing.checks import CHECKS, entropy
from gateway.scrubbing.scrubber import Scrubber
from tests.gateway.scrubbing.fakes import ALPHABETS, made

scrubber = Scrubber()


def _rules(text: str) -> list[str]:
    return [each.rule for each in scrubber.text(text)[1]]


def test_entropy_is_shannons() -> None:
    assert entropy(b"") == 0
    assert entropy(b"aaaa") == 0
    assert entropy(b"abcd") == 2
    assert entropy(bytes(range(256)) * 9) == 8


@pytest.mark.parametrize("kind", ["hex", "digit"])
def test_quoted_hexadecimal_is_below_the_entropy_of_a_secret(kind: str) -> None:
    assert len(ALPHABETS[kind]) <= 16
    assert _rules(f'digest("{made(f"{{{kind}:128}}", Random(1))}")') == []


@pytest.mark.parametrize(
    "text",
    [
        'password = "hunter2"',
        "PASSWORD=hunter2",
        '"client_secret" : "a1b2c3d4e5f6"',
        "db.password: 'Summer2024!'",
        'let apiKey = "9f86d081884c7d65";',
        '"password" => "pa$$w0rd!"',
        'const token: string = "x8Kd02mQpz91";',
    ],
)
def test_a_value_given_to_a_telling_name_is_a_secret(text: str) -> None:
    cleaned, redactions = scrubber.text(text)
    assert [each.rule for each in redactions] in (["assignment"], ["plain-assignment"])
    assert "[REDACTED]" in cleaned


@pytest.mark.parametrize(
    "text",
    [
        'password = "password"',
        "password = get_password_v2(user)",
        'token = "${TOKEN_2}"',
        "secret = config.secrets[0].value",
        'password: "********"',
        'api_key = "your-api-key-1"',
        'token: "color.blue.500"',
        'passwordField = "user.password.input2"',
    ],
)
def test_words_variables_and_places_are_none(text: str) -> None:
    assert _rules(text) == []


def test_basic_credentials_are_a_name_and_a_password() -> None:
    assert _rules("Authorization: Basic ZGVwbG95OnMzY3IzdA==") == ["basic-auth"]
    assert _rules("Authorization: Basic SGVsbG8gd29ybGQgYWdhaW4=") == []


@pytest.mark.parametrize(
    ("check", "value", "secret"),
    [
        ("random", "a1b2c3d4e5f6", True),
        ("random", "a1b2a1b2", False),
        ("random", "abcdefgh12", False),
        ("random", "abcd1efg", False),
        ("random", "12345678", False),
        ("random", "a1b2c3d4", True),
        ("random", "${a1b2c3d4e5f6}", False),
        ("random", "north-2024-11-22-garden", False),
        ("random", "exampleA1b2C3d4", False),
        ("basic", "YTpi", True),
        ("basic", "YWE6Yg==", True),
        ("basic", "YWE6Yg", True),
        ("basic", "=YTpi", False),
        ("basic", "YTpiX", False),
        ("basic", "YTpi\n", False),
        ("basic", "YQpiOmM=", False),
        ("basic", "/zpi", False),
        ("given", "secret", True),
        ("given", "env:SECRET", False),
        ("given", "your_password", False),
        ("password", "a1!b", True),
        ("password", "a1a1!", False),
        ("password", "abcd", False),
        ("password", "garden-2024", False),
        ("password", "1.2.3", False),
        ("entropy", made("{alnum:40}", Random(6)) + "1", True),
        ("entropy", "north_garden_by_the_river_1", False),
        ("entropy", "sha256-" + made("{alnum:40}", Random(6)), False),
        ("entropy", "X1ABCDEFGH" + made("{alnum:40}", Random(6)), False),
        ("entropy", "abcXdefXghiX" * 3, False),
    ],
)
def test_a_check_says_what_is_a_secret(check: str, value: str, secret: bool) -> None:
    for before, after in ((b"", b""), (b"said: '", b"' ${more} word")):
        data = before + value.encode() + after
        found = CHECKS[check](data, 0, len(before), len(before) + len(value))
        assert found is secret


@pytest.mark.parametrize(
    ("before", "value", "after", "secret"),
    [
        ("PASSWORD=", "hunter2", "", True),
        ("PASSWORD=", "hunter2", "(", False),
        ("PASSWORD=", "hunter2", "x", True),
        ("password: ", "hunter2", "", False),
        ("password: ", "a1b2c3d4e5", "", True),
        ("password: ", "a1b2a1b2", "", False),
        ("password=", "hunter2", "", False),
        ("PASSWORD=", "1234!5678", "", False),
        ("PASSWORD=", "garden", "", False),
    ],
)
def test_an_unquoted_value_is_a_password_where_it_is_a_settings(
    before: str, value: str, after: str, secret: bool
) -> None:
    data = f"{before}{value}{after}".encode()
    assert CHECKS["plain"](data, 0, len(before), len(before) + len(value)) is secret


@pytest.mark.parametrize("name", ["next", "csrf-", "page_", "public."])
def test_a_name_that_says_otherwise_makes_none(name: str) -> None:
    value = "x8Kd02mQpz91"
    for before, secret in ((f"{name}", False), (f"{name}{' ' * 24}", True)):
        data = f"{before}token = '{value}'".encode()
        start = data.index(value.encode())
        assert CHECKS["password"](data, len(before), start, start + len(value)) is secret


@pytest.mark.parametrize(("gap", "secret"), [(0, False), (48, True)])
def test_a_hash_is_known_by_the_name_before_it(gap: int, secret: bool) -> None:
    value = made("{alnum:40}", Random(6)) + "1"
    before = f"sha256: {'' if not gap else 'x' * gap}"
    data = f"{before}'{value}'".encode()
    assert CHECKS["entropy"](data, len(before), len(before) + 1, len(data) - 1) is secret
