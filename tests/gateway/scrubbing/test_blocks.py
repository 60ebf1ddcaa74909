"""Keys that go on over lines: where they end, and what is left of their lines."""

from __future__ import annotations

from random import Random

import pytest

from gateway.scrubbing.blocks import blotted, end_of_block
from tests.gateway.scrubbing.fakes import made

FIRST = b"-----BEGIN PRIVATE KEY-----"
LAST = b"-----END PRIVATE KEY-----"
LINE = made("{alnum:64}", Random(1)).encode()
SHORT = made("{alnum:20}", Random(2)).encode()


def rest(data: bytes, first: bytes = FIRST) -> bytes | None:
    """What a key that begins the data leaves of it; None where none begins."""
    end = end_of_block(first + data, len(first))
    return None if end is None else (first + data)[end:]


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"\n" + LINE + b"\n" + LAST + b"\nmore", b"\nmore"),
        (b"\n" + LINE + b"\nmore of the text", b"\nmore of the text"),
        (b"\n" + LINE + b"\n" + SHORT + b"=\nmore of it", b"\nmore of it"),
        (b"\n" + LINE + b"\nQ==\nmore of it", b"\nmore of it"),
        (b"\n" + LINE, b""),
        (b"\n" + LINE + b"  \n\n" + LINE, b"  \n\n" + LINE),
        (b"\n" + LINE + b"\n \t\r\n" + LINE, b"\n \t\r\n" + LINE),
        (b"\n" + LINE + b"\n+\n" + LINE, b"\n+\n" + LINE),
        (b"\n" + LINE + b"\n+X-Y: 1\n" + LINE + b"\nmore of it", b"\nmore of it"),
        (b"\nProc-Type: 4,ENCRYPTED\n\n" + LINE + b"\nmore of it", b"\nmore of it"),
        (b"\\n" + LINE + b"\\n more", b" more"),
        (b"\\n" + LINE + b"\\nABCD\n" + LINE + b"\nmore of it", b"\nmore of it"),
        (b"\n" + LINE + b"\n" + FIRST + b"\n" + LINE, b"\n" + FIRST + b"\n" + LINE),
    ],
    ids=range(13),
)
def test_a_key_ends_with_its_last_line_or_where_it_breaks_off(data: bytes, left: bytes) -> None:
    assert rest(data) == left


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\nABCD\n",
        b"\n" + LAST,
        b"\nno key\n" + LINE,
        b"\n\n\n" + b"a word\n",
        b'" in text:\n    return ' + LINE,
        FIRST + b"\n" + LINE,
    ],
    ids=range(8),
)
def test_where_nothing_of_a_key_follows_none_begins(data: bytes) -> None:
    assert rest(data) is None


def test_a_key_of_more_than_64_kib_is_taken_as_far_as_that() -> None:
    lines = b"".join(b"\n" + LINE for _ in range(2_000))
    left = rest(lines + b"\n" + LAST)
    assert left is not None
    assert len(FIRST) + len(lines) - len(left) <= len(FIRST) + 64 * 1024
    assert len(lines) - len(left) > 63 * 1024


@pytest.mark.parametrize(
    ("block", "left"),
    [
        (b"first", b"[X]"),
        (b"first\r\nsecond\r\nlast", b"[X]\r\n[X]\r\n[X]"),
        (b"first\nsecond\n\nlast\n", b"[X]\n[X]\n\n[X]\n"),
        (b"first\n+ second\n-\tlast\n+\n", b"[X]\n+ [X]\n-\t[X]\n+\n"),
        (b"first\n  # second\n > last\n  \r\n", b"[X]\n  # [X]\n > [X]\n  \r\n"),
    ],
)
def test_a_line_keeps_its_end_and_what_marks_it(block: bytes, left: bytes) -> None:
    assert blotted(block, b"[X]") == left
