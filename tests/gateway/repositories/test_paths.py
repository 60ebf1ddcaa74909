from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urljoin, urlsplit

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.repositories.errors import SourceFailed
from gateway.repositories.paths import MAX_PATH_BYTES, checked, is_below, joined, problem

REFUSED = [
    "",
    "..",
    "../secret",
    "a/../../b",
    "a..b",
    "/etc/passwd",
    "//host/share",
    "a\\b",
    "..\\b",
    "a\0b",
    "a\nb",
    "a\x7fb",
    "a\x85b",
    "%2e%2e/b",
    "%2E%2E%2Fb",
    "a%2fb",
    "a%5cb",
    "a%00b",
    "%252e%252e%252fb",
    "%25252e",
    "%c0%ae%c0%ae/b",
    "%u002e%u002e",
    "a//b",
    "a/",
    "a/./b",
    ".",
    "a/b.",
    "a /b",
    "\ud800",
    "x" * 256,
    "é" * 128,
    "a/" * 600 + "a",
]
ALLOWED = [
    "SKILL.md",
    "references/forms.md",
    ".claude-plugin/plugin.json",
    "docs/guides/set-up.mdx",
    "100% sure.md",
    "größe/naïve.md",
    "gro\u0308ße.md",
    "技能/手册.md",
    "a:b.md",
    "x" * 255,
]


@pytest.mark.parametrize("value", REFUSED)
def test_what_could_lead_elsewhere_is_refused(value: str) -> None:
    with pytest.raises(SourceFailed) as refused:
        checked(value, "file")
    assert refused.value.code == "INVALID_PATH"
    assert refused.value.message.startswith("file ")
    assert len(refused.value.message.encode()) < 500


@pytest.mark.parametrize("value", ALLOWED)
def test_names_that_people_use_pass(value: str) -> None:
    assert checked(value, "name") == value


def test_segments_are_checked_together() -> None:
    assert joined("", "skills", "a/b", "SKILL.md") == "skills/a/b/SKILL.md"
    for bad in (("skills", "/a"), ("skills", "a/"), ("", ""), ("x" * 200,) * 6):
        with pytest.raises(SourceFailed, match="path"):
            joined(*bad)


def test_a_folder_holds_what_is_below_it() -> None:
    assert is_below("docs/a.md", "docs")
    assert is_below("docs/a.md", "")
    assert not is_below("docs2/a.md", "docs")
    assert not is_below("docs", "docs")


PIECES = st.sampled_from(
    ["a", ".", "..", "/", "\\", "%", "%2e", "%2F", "%25", "2e", "\0", " ", "é", "~", ":", "?", "#"]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


@given(TEXTS)
@example("a/..")
def test_nothing_that_passes_leaves_the_root(value: str) -> None:
    if problem(value) is not None:
        return
    root = Path(os.sep, "srv", "content")
    lexical = Path(os.path.normpath(root / value))
    assert lexical.is_relative_to(root)
    assert lexical != root
    assert PurePosixPath(value).parts == tuple(value.split("/"))


@given(TEXTS)
def test_nothing_that_passes_means_another_path_however_often_it_is_decoded(value: str) -> None:
    if problem(value) is not None:
        return
    decoded = value
    for _ in range(5):
        decoded = unquote(decoded, errors="surrogateescape")
        assert decoded.count("/") == value.count("/")
        assert not {"", ".", ".."} & set(decoded.split("/"))
        assert "\\" not in decoded
        assert "\0" not in decoded


@given(TEXTS)
def test_nothing_that_passes_leaves_its_place_in_a_url(value: str) -> None:
    if problem(value) is not None:
        return
    base = "https://api.example.org/repos/o/r/contents/"
    asked = base + "/".join(quote(part, safe="") for part in value.split("/"))
    for url in (str(httpx.URL(asked)), urljoin(base, asked)):
        assert url.startswith(base)
        assert unquote(urlsplit(url).path) == f"/repos/o/r/contents/{value}"
        assert not urlsplit(url).query


@given(st.text(min_size=1, max_size=MAX_PATH_BYTES))
def test_a_refusal_can_always_be_sent(value: str) -> None:
    try:
        checked(value, "name")
    except SourceFailed as refused:
        str(refused).encode()
        repr(refused.details).encode()
