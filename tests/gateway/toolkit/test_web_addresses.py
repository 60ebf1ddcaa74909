"""An address that somebody wrote is taken apart, or has no parts."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.web_addresses import address_parts


def test_an_address_has_the_parts_that_it_names() -> None:
    parts = address_parts("https://example.org/a/b.md?c=d#e")
    assert parts == urlsplit("https://example.org/a/b.md?c=d#e")


@pytest.mark.parametrize("text", ["http://[x", "http://\u2100.com", "//["])
def test_what_cannot_be_read_has_no_parts(text: str) -> None:
    assert not any(address_parts(text))


@given(st.text() | st.from_regex(r"[a-z]{0,5}:?//\[?[^\s]{0,12}"))
def test_no_text_stops_who_reads_it(text: str) -> None:
    address_parts(text)
