from __future__ import annotations

import base64
import json
import re
import string
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.observability.redaction import MARK, MIN_SECRET_CHARACTERS, Redactor


def nested(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3),
            st.tuples(inner, inner),
            st.dictionaries(st.text(max_size=5) | leaf.filter(_hashable), inner, min_size=1),
            inner.map(lambda value: {"deep": [repr(value), str(value)]}),
            inner.map(lambda value: ValueError("failed with", value)),
        ),
        max_leaves=6,
    )


def _hashable(value: Any) -> bool:
    return isinstance(value, str | bytes)


# Without the mark's own character, and not the words that stand in every repr.
secrets = st.text(
    st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=MIN_SECRET_CHARACTERS
).filter(lambda text: text not in "failed with ValueError deep")


@given(secret=secrets, data=st.data())
def test_a_registered_secret_never_comes_out_whatever_the_nesting(
    secret: str, data: st.DataObject
) -> None:
    redactor = Redactor()
    redactor.register(secret)
    leaf = st.sampled_from([secret, f"before {secret} after", secret.encode(), secret * 2])
    value = data.draw(nested(leaf))
    shown = redactor.value({"event": "x", "value": value})
    assert secret not in _all_text(shown)
    assert json.dumps(secret)[1:-1] not in json.dumps(shown)


def _all_text(value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{_all_text(k)}\n{_all_text(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "\n".join(map(_all_text, value))
    return str(value)


# Few letters, so that values begin alike, overlap, and hold one another.
odd = st.text("ab'/", min_size=MIN_SECRET_CHARACTERS, max_size=14)


@given(st.lists(st.one_of(odd, secrets), max_size=6), st.data())
def test_each_value_is_hidden_from_the_moment_it_is_known(
    values: list[str], data: st.DataObject
) -> None:
    redactor = Redactor()
    known: list[str] = []
    for value in values:
        redactor.register(value)
        known.append(value)
        parts = data.draw(st.lists(st.one_of(st.sampled_from(known), st.text("ab'/ ", max_size=4))))
        shown = redactor.text("\n".join(parts))
        assert not any(each in shown for each in known)


@given(st.lists(odd, max_size=6), st.text("ab'/", max_size=60))
def test_of_values_that_begin_at_one_place_the_longest_is_hidden(
    values: list[str], text: str
) -> None:
    redactor = Redactor()
    for value in values:
        redactor.register(value)
    spelt = {
        each
        for value in values
        for each in (value, repr(value)[1:-1], json.dumps(value)[1:-1], quote(value, safe=""))
    }
    longest_first = sorted(map(re.escape, spelt), key=len, reverse=True)
    wanted = re.sub("|".join(longest_first), MARK, text) if spelt else text
    assert redactor.text(text) == wanted


def test_values_that_threads_learn_at_once_are_all_hidden_and_each_as_soon_as_it_is_known() -> None:
    redactor = Redactor()

    def learn(thread: int) -> list[str]:
        through = []
        for number in range(300):
            value = f"of-a-kind-{number % 30}-{thread}-{number}"  # many begin alike
            redactor.register(value)
            shown = redactor.text(f"before {value} after")
            through += [shown] if value in shown else []
        return through

    with ThreadPoolExecutor(8) as threads:
        assert [each for some in threads.map(learn, range(8)) for each in some] == []
    for thread in range(8):
        for number in range(300):
            assert redactor.text(f"of-a-kind-{number % 30}-{thread}-{number}") == MARK


@pytest.mark.parametrize(
    "key",
    [
        "authorization",
        "Set-Cookie",
        "X-Hub-Signature-256",
        "access_token",
        "clientSecret",
        "password",
        "api_key",
        "aws_secret_access_key",
        "PORCH_STATIC_TOKENS",
    ],
)
def test_the_value_under_a_secret_key_is_hidden_whole(key: str) -> None:
    assert Redactor().value({"headers": {key: {"scheme": "x", "n": 1}}}) == {"headers": {key: MARK}}


@pytest.mark.parametrize("key", ["tier", "item", "tokenizer", "token_count", "signed_at"])
def test_other_keys_keep_their_values(key: str) -> None:
    assert Redactor().value({key: "plain"}) == {key: "plain"}


@dataclass
class Settings:
    password: str
    port: int


OPAQUE = "Zk3" + string.ascii_letters


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {OPAQUE}",
        f"GET /hooks?access_token={OPAQUE}&page=2",
        f"connect to postgresql://porch:{OPAQUE}@db/porch failed",
        f"no such token porch_{OPAQUE}",
        f"jwt eyJhbGciOi.{OPAQUE}.{OPAQUE}",
        repr({"password": OPAQUE, "port": 1}),
        repr(Settings(password=OPAQUE, port=1)),
    ],
)
def test_a_credential_inside_a_text_is_hidden(text: str) -> None:
    shown = Redactor().text(text)
    assert OPAQUE not in shown
    assert MARK in shown


@pytest.mark.parametrize(
    "text",
    [
        "The porch_changed hook of the plugin raised.",
        "A bearer token is needed.",
        "Token: expired. Basic help is in the handbook.",
        "https://porch.example/api/v1?limit=10",
    ],
)
def test_ordinary_sentences_stay_as_they_are(text: str) -> None:
    assert Redactor().text(text) == text


GITHUB = [
    *(f"{kind}_{OPAQUE}" for kind in ("ghp", "gho", "ghu", "ghs", "ghr")),
    f"github_pat_{OPAQUE}_{OPAQUE}",
]


@pytest.mark.parametrize("token", GITHUB)
@given(before=st.text(max_size=5), tail=st.text(string.ascii_letters + string.digits, max_size=9))
def test_a_github_token_is_hidden_plain_and_in_base64(token: str, before: str, tail: str) -> None:
    token += tail
    plain = f"{before} {token}"
    assert OPAQUE not in Redactor().text(plain)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(token.encode()).decode()
        for spelling in (encoded, encoded.rstrip("=")):
            shown = Redactor().text(f"{before} '{spelling}'")
            assert encoded[8:40] not in shown
            assert shown.endswith("'")


def test_the_secret_of_a_request_is_hidden_for_as_long_as_it_runs() -> None:
    redactor = Redactor()
    secret = "odd shaped; secret"
    encoded = base64.urlsafe_b64encode(secret.encode()).decode().rstrip("=")
    with redactor.hiding(secret):
        shown = redactor.value({"event": f"{secret} or {encoded}", "error": ValueError(secret)})
        assert shown == {"event": f"{MARK} or {MARK}", "error": MARK}
        with redactor.hiding("short"):
            assert redactor.text("short") == "short"
    assert redactor.text(secret) == secret


def test_a_short_value_does_not_blot_out_ordinary_words() -> None:
    redactor = Redactor()
    redactor.register("open")
    assert redactor.text("open tier") == "open tier"


def test_a_value_that_holds_itself_ends() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    assert "again" in Redactor().value(loop)


def test_an_object_whose_repr_raises_is_named_by_its_type() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "Broken" in Redactor().value({"x": Broken()})["x"]


def test_numbers_stay_numbers_unless_they_are_a_secret() -> None:
    redactor = Redactor()
    redactor.register("12345678")
    assert redactor.value({"a": 12345678, "b": 1.5, "c": True, "d": None}) == {
        "a": MARK,
        "b": 1.5,
        "c": True,
        "d": None,
    }
