"""Secrets in contents: what plugins read in and answer loses them, and nothing else."""

from __future__ import annotations

import base64
from random import Random
from typing import Any

import mcp_types as mcp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from gateway.scrubbing.contents import ContentScrub
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(1))
AWS = made("AKIA{b32:16}", Random(3))
KEY = "\n".join(
    ["-----BEGIN RSA PRIVATE KEY-----"]
    + [made("{b64:64}", Random(n)) for n in range(6)]
    + ["-----END RSA PRIVATE KEY-----"]
)
SCRUB = ContentScrub("demo")
INNOCENT = [
    "key = 'AKIAIOSFODNN7EXAMPLE'",
    "A PEM file begins with -----BEGIN RSA PRIVATE KEY----- and has Base64 below.",
    "url = 'postgresql://user:password@host/name'",
    "mysql+mysqldb://scott:tiger@localhost/test",
    "password = os.environ['DB_PASSWORD']",
    "token: str = field(default='')",
    "--md-primary-fg-color--dark: #90030C;",
    'class="md-footer-nav__link--prev"',
    f"digest = '{made('{hex:64}', Random(4))}'",
    f"vector = '{made('{b64:64}', Random(5))}'",
]


class Inner(BaseModel):
    text: str


class Held(BaseModel):
    name: str
    inner: tuple[Inner, ...] = ()
    data: bytes = b""


@pytest.mark.parametrize("text", INNOCENT)
def test_samples_and_what_only_looks_random_stay_as_they_are(text: str) -> None:
    assert SCRUB.text(text) == (text, [])


def test_a_secret_says_in_its_place_what_it_was_and_where_it_stood() -> None:
    text, found = SCRUB.text(f"a = 1\ntoken = '{TOKEN}'\n", "", "app.py")
    assert text == "a = 1\ntoken = '[REDACTED: GitHub personal access token (classic)]'\n"
    assert [(each.argument, each.line) for each in found] == [("app.py", 2)]


@given(
    st.lists(st.sampled_from([*INNOCENT, f"t = '{TOKEN}'", KEY, "", f"password = '{AWS}'"])),
    st.sampled_from(["utf-8", "latin-1"]),
)
def test_lines_stay_as_many_and_a_second_look_changes_nothing(
    parts: list[str], encoding: str
) -> None:
    data = "\n".join([*parts, "# \xe9t\xe9"]).encode(encoding)
    cleaned, _ = SCRUB.data(data)
    assert cleaned.count(b"\n") == data.count(b"\n")
    assert SCRUB.data(cleaned) == (cleaned, [])
    assert TOKEN.encode() not in cleaned
    assert AWS.encode() not in cleaned
    assert "# \xe9t\xe9".encode(encoding) in cleaned


@pytest.mark.parametrize(
    "answer",
    [
        TOKEN,
        f"x {TOKEN}".encode(),
        {"a": [{"b": TOKEN}]},
        Held(name="n", inner=(Inner(text=TOKEN),), data=TOKEN.encode()),
        [mcp.TextContent(type="text", text=TOKEN)],
        mcp.CallToolResult(content=[mcp.TextContent(type="text", text=f"'{TOKEN}'")]),
    ],
)
def test_an_answer_of_any_shape_loses_its_secrets_and_stays_what_it_was(answer: Any) -> None:
    cleaned, found = SCRUB.value(answer)
    assert type(cleaned) is type(answer)
    assert found
    assert TOKEN not in repr(cleaned)
    assert TOKEN in repr(answer)


def test_pictures_and_bytes_that_are_no_text_stay_as_they_are() -> None:
    picture = mcp.ImageContent(
        type="image", data=base64.b64encode(TOKEN.encode()).decode(), mime_type="image/png"
    )
    for value in ([picture], b"\0" + TOKEN.encode()):
        assert SCRUB.value(value) == (value, [])


def test_an_admin_leaves_a_plugin_or_a_source_as_it_is() -> None:
    left = ContentScrub("demo", as_is=("demo/keys",))
    assert left.text(TOKEN, "keys") == (TOKEN, [])
    assert left.text(TOKEN, "other")[1]
    assert not left.at_answers()
    assert ContentScrub("other", as_is=("demo/keys",)).at_answers()
    assert not ContentScrub("demo", as_is=("demo",)).applies("other")
    assert not ContentScrub("demo", enabled=False).applies()
