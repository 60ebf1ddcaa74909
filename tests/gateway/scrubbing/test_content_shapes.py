"""Contents of every shape: what is looked through, what is left, and what is told of it."""

from __future__ import annotations

from random import Random
from typing import Any

import mcp_types as mcp
import pytest
from pydantic import BaseModel, ConfigDict

from gateway.scrubbing.contents import ContentScrub, each_text_of, few_texts_of, size_of, texts_of
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(1))
KIND = "GitHub personal access token (classic)"
MARK = f"[REDACTED: {KIND}]"
SCRUB = ContentScrub("demo")


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    text: str


def places(value: Any) -> list[str]:
    return [each.argument for each in SCRUB.value(value)[1]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (TOKEN, [""]),
        (TOKEN.encode(), [""]),
        ([TOKEN], ["0"]),
        (("x", TOKEN), ["1"]),
        ({"a": [{"b": TOKEN}]}, ["a.0.b"]),
        ({"a": {"b": TOKEN.encode()}}, ["a.b"]),
        (Loose(text=TOKEN), ["text"]),
        ({"m": [Loose(text="x", more=TOKEN)]}, ["m.0.more"]),
    ],
)
def test_a_redaction_says_where_in_an_answer_it_was(value: Any, expected: list[str]) -> None:
    assert places(value) == expected


def test_lists_and_tuples_stay_what_they_are() -> None:
    assert SCRUB.value([TOKEN, 1, None])[0] == [MARK, 1, None]
    assert SCRUB.value((TOKEN, 1, None))[0] == (MARK, 1, None)


def test_what_holds_no_secret_is_the_same_object() -> None:
    beside = Loose(text="nothing to see here")
    cleaned, _ = SCRUB.value({"a": beside, "b": TOKEN})
    assert cleaned["a"] is beside
    whole = {"a": "password: none of these words is one"}
    assert SCRUB.value(whole)[0] is whole
    looks = {"a": f"ghp_{'x' * 36}"}  # what looks like one is looked at again
    assert SCRUB.value(looks)[0] is looks
    data = b"ghp_" + b"x" * 36
    assert SCRUB.data(data)[0] is data


@pytest.mark.parametrize("zero", [True, False])
def test_bytes_are_looked_through_unless_they_are_no_text(zero: bool) -> None:
    data = b"\xff\xe9 " + TOKEN.encode() + (b"\0" if zero else b"")
    left = data if zero else b"\xff\xe9 " + MARK.encode()
    for value, expected in ((data, left), ({"a": data, "b": TOKEN}, {"a": left, "b": MARK})):
        assert SCRUB.value(value)[0] == expected
    assert SCRUB.data(data)[0] == left


def test_base64_is_left_alone_where_its_neighbour_says_that_it_is_some() -> None:
    encoded = {"content": TOKEN, "encoding": "base64"}
    assert SCRUB.value(encoded) == (encoded, [])
    assert places({"a": encoded, "b": TOKEN}) == ["b"]
    assert places({"content": TOKEN, "encoding": "utf-8"}) == ["content"]
    assert places({"text": TOKEN, "encoding": "base64"}) == ["text"]
    assert SCRUB.value(Loose(text="x", **encoded))[1] == []
    assert places([Loose(text=TOKEN, **encoded)]) == ["0.text"]


def test_the_data_of_a_picture_and_the_blob_of_a_resource_are_left_and_their_rest_is_not() -> None:
    picture = mcp.ImageContent(type="image", data=TOKEN, mime_type=TOKEN)
    cleaned, found = SCRUB.value(picture)
    assert (cleaned.data, cleaned.mime_type) == (TOKEN, MARK)
    assert [each.argument for each in found] == ["mime_type"]
    blob = mcp.BlobResourceContents(uri=f"demo://{TOKEN}", blob=TOKEN)
    cleaned, _ = SCRUB.value(blob)
    assert cleaned.blob == TOKEN
    assert TOKEN not in cleaned.uri


@pytest.mark.parametrize("other", ["\ud800 half of a character", "\u00e9\u4e2d"])
def test_any_characters_may_stand_beside_a_secret(other: str) -> None:
    assert SCRUB.value([other + " " * 12, TOKEN])[0] == [other + " " * 12, MARK]


def test_texts_of_an_answer_are_not_joined_to_what_neither_holds() -> None:
    assert SCRUB.value(["padding of it ghp_", "a" * 40]) == (["padding of it ghp_", "a" * 40], [])


def test_a_text_and_bytes_are_told_with_their_path_and_line() -> None:
    for found in (
        SCRUB.text(f"a\n{TOKEN}", path="a.py")[1],
        SCRUB.data(f"a\n{TOKEN}".encode(), path="a.py")[1],
        SCRUB.data(b"\xe9\n" + TOKEN.encode(), path="a.py")[1],
        SCRUB.file(f"a\n{TOKEN}".encode(), path="a.py")[1],
    ):
        assert [(each.kind, each.argument, each.line) for each in found] == [(KIND, "a.py", 2)]
    for found in (
        SCRUB.text(TOKEN)[1],
        SCRUB.data(TOKEN.encode())[1],
        SCRUB.file(TOKEN.encode())[1],
    ):
        assert [each.argument for each in found] == [""]


def test_what_is_left_of_a_plugin_is_left_whatever_it_is() -> None:
    kept = ContentScrub("demo", as_is=("demo/keys",))
    data = TOKEN.encode()
    for source, found in (("keys", 0), ("other", 1)):
        assert len(kept.text(TOKEN, source)[1]) == found
        assert len(kept.data(data, source)[1]) == found
        assert len(kept.file(data, source)[1]) == found
    off = ContentScrub("demo", enabled=False)
    assert (off.text(TOKEN), off.data(data), off.file(data)) == (
        (TOKEN, []),
        (data, []),
        (data, []),
    )
    assert ContentScrub("demo", as_is=("demo/",)).text(TOKEN) == (TOKEN, [])


def test_a_rule_that_an_admin_allows_finds_nothing_in_contents() -> None:
    allowing = ContentScrub("demo", allow=("github-classic-token",))
    assert allowing.value({"a": TOKEN}) == ({"a": TOKEN}, [])
    assert allowing.data(TOKEN.encode()) == (TOKEN.encode(), [])


def test_a_source_of_a_longer_name_is_no_source_of_the_plugin() -> None:
    assert ContentScrub("a", as_is=("a/b/c",)).at_answers() is False
    assert ContentScrub("a/b", as_is=("a/b/c",)).at_answers() is True


FRONT = f"---\ntoken: {TOKEN}\n---\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.md", f"{FRONT}{TOKEN}\n", f"---\ntoken: REDACTED\n---\n{MARK}\n"),
        ("A.MD", f"{FRONT}x\n", "---\ntoken: REDACTED\n---\nx\n"),
        ("a.yaml", f"token: {TOKEN}\n", "token: REDACTED\n"),
        ("a.yml", f"token: {TOKEN}\n", "token: REDACTED\n"),
        ("a.txt", f"{FRONT}{TOKEN}\n", f"---\ntoken: {MARK}\n---\n{MARK}\n"),
        ("yaml", f"token: {TOKEN}\n", f"token: {MARK}\n"),
    ],
)
def test_what_was_yaml_is_yaml_still(path: str, text: str, expected: str) -> None:
    cleaned, found = SCRUB.file(text.encode(), path=path)
    assert cleaned.decode() == expected
    assert {each.kind for each in found} == {KIND}


def test_a_file_without_secrets_is_the_same_object() -> None:
    data = b"---\ntitle: Garden\n---\nNothing to see here.\n"
    assert SCRUB.file(data, path="a.md") == (data, [])
    assert SCRUB.file(data, path="a.md")[0] is data


@pytest.mark.parametrize(
    ("value", "most", "texts"),
    [
        ("x" * 20, 100, ["x" * 20]),
        ({"a": ["x" * 20, b"y" * 30], "b": 1}, 100, ["x" * 20, "y" * 30]),
        (["x" * 20] * 9, 189, ["x" * 20] * 9),
        (["x" * 20] * 9, 188, None),
        (["x" * 20], 0, None),
        (["x" * 12, "y" * 11, None, True, 1.5], 17, ["x" * 12]),
        ([1] * 9, 8, None),
        (7, 0, []),
    ],
    ids=range(8),
)
def test_the_texts_of_an_answer_are_collected_unless_they_are_many(
    value: Any, most: int, texts: list[str] | None
) -> None:
    found = few_texts_of(value, most)
    assert (sorted(found) if found else found) == texts


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("x" * 20, 20),
        ({"rows": [{"text": "a" * 20, "n": 1}] * 100, "more": 5}, 2 + 100 + 100 * 22),
        (mcp.ImageContent(data="a" * 50, mime_type="image/png"), 50 + 4),
        ({"type": "image", "data": "a" * 50}, 50 + 2),
        ({"type": "image", "data": 5}, 2),
        (b"\0" * 30, 30),
        (None, 0),
    ],
    ids=range(7),
)
def test_the_size_of_an_answer_is_its_texts_and_its_entries(value: Any, size: int) -> None:
    assert size_of(value) == size
    assert size_of(value, size / 2) > size / 2 or not size
    assert sum(each for _, each in each_text_of(value, 30)) == size


def test_the_texts_of_an_answer_come_some_at_a_time() -> None:
    value = {"rows": [{"text": "a" * 20}, "b" * 20] * 100}
    some = [texts for texts, _ in each_text_of(value, 100)]
    assert sorted(text for texts in some for text in texts) == sorted(texts_of(value))
    assert len(some) > 20


def test_a_secret_in_long_bytes_is_found_wherever_it_stands() -> None:
    filler = b"some words and no end of a line, "
    for before in (0, 7_900, 8_000, 20_000):
        data = filler * before + f" {TOKEN} ".encode() + filler * 9_000
        assert any(TOKEN in text for text in texts_of(data))
        assert SCRUB.value(data)[0].count(MARK.encode()) == 1


def test_texts_that_are_known_are_not_collected_again() -> None:
    assert SCRUB.value({"a": TOKEN}, []) == ({"a": TOKEN}, [])
    assert SCRUB.value({"a": TOKEN}, ["none of them is one"]) == ({"a": TOKEN}, [])
    assert SCRUB.value({"a": TOKEN}, texts_of({"a": TOKEN}))[0] == {"a": MARK}


def test_the_fingerprint_names_the_rules_and_what_is_left_of_this_plugin() -> None:
    def named(plugin: str = "demo", **more: Any) -> str:
        return ContentScrub(plugin, **more).fingerprint()

    assert len(named()) == 16
    assert named() == named("other") == named(as_is=("other/a",)) == named(as_is=("demos",))
    assert named(as_is=("demo/b", "demo/a")) == named(as_is=("demo/a", "demo/b", "other"))
    different = [
        named(),
        named(enabled=False),
        named(allow=("jwt",)),
        named(as_is=("demo",)),
        named(as_is=("demo/a",)),
        named(as_is=("demo/a/b",)),
    ]
    assert len(set(different)) == len(different)
    assert named(allow=("high-entropy",)) == named()


@pytest.mark.usefixtures("read_anew")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("postgresql://scott:tiger@localhost/test", []),
        (
            f"postgresql://scott:{made('{alnum:20}', Random(8))}1a@db.example.net/x",
            ["postgres-url"],
        ),
        ("curl -u scott:tiger https://db.example.net", []),
        (f"curl -u scott:{made('{alnum:20}', Random(8))}1a https://db.example.net", ["curl-user"]),
    ],
)
def test_a_password_in_an_address_of_a_file_has_to_look_like_one(
    text: str, found: list[str]
) -> None:
    assert [each.rule for each in SCRUB.text(text)[1]] == found


@pytest.mark.usefixtures("read_anew")
def test_a_format_without_a_check_of_its_own_is_not_taken_for_a_placeholder() -> None:
    assert SCRUB.text(f"ghp_example{'a1' * 15}")[1] == []
    assert SCRUB.text(f"ghp_{'a1b2' * 9}")[0] == MARK


@pytest.mark.usefixtures("read_anew")
def test_a_key_of_many_lines_is_found_in_contents_too() -> None:
    lines = [made("{b64:64}", Random(n)) for n in range(3)]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    cleaned, found = SCRUB.text(key)
    assert cleaned.count("[REDACTED: private key (PEM block)]") == 5
    assert [each.rule for each in found] == ["private-key"]
