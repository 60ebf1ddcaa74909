"""What tells a secret from a word, a hash or an expression."""

from __future__ import annotations

from random import Random

import pytest

from gateway.scrubbing.checks import entropy
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
