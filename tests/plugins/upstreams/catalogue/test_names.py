"""What members see a server's tools called."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.upstreams.catalogue.names import MAX_CHARACTERS, shown_name
from tests.examples import examples

SERVERS = st.from_regex(r"[a-z][a-z0-9]{0,10}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)
NAMES = st.one_of(st.text(min_size=1, max_size=80), st.from_regex(r"[a-z_.]{1,60}", fullmatch=True))


def test_a_name_that_clients_take_stands_behind_its_servers() -> None:
    assert shown_name("github", "search_code") == "github__search_code"


def test_what_clients_do_not_take_is_replaced_and_told_apart_by_a_digest() -> None:
    assert shown_name("files", "read.file") == "files__read_file-10c700"
    assert shown_name("files", "read/file") != shown_name("files", "read.file")


@given(SERVERS, NAMES)
@settings(max_examples=examples(400))
def test_every_name_is_one_that_clients_take_and_always_the_same(server: str, name: str) -> None:
    shown = shown_name(server, name)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", shown)
    assert len(shown) <= MAX_CHARACTERS
    assert shown == shown_name(server, name)


@given(st.tuples(SERVERS, NAMES), st.tuples(SERVERS, NAMES))
@settings(max_examples=examples(400))
def test_no_two_tools_have_one_name(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert one == other or shown_name(*one) != shown_name(*other)
