"""A playbook on disk, rows to compare, and texts that are hard to write down."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

from hypothesis import strategies as st

from gateway.services.database.service import OwnedDatabase
from gateway.toolkit.columns import UtcDateTime
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL
from plugins.workflows.store.tables import metadata

OPERATOR = Writer(PORTAL, may_publish=True)
HISTORY = {"playbook_revisions", "playbook_counters"}
"""Tables that tell how rows came about."""

_LETTERS = st.characters(exclude_categories=("Cc", "Cs"))
_WORDS = (
    "--- no yes 1.10 1.0 1e5 0x1F 1_000 12:30:45 2026-03-01 ~ null true = << | > ' \" \\ `x` &a *a"
)
_MARKS = [
    *("{a: b}", "- x", "# x", "a: b", "a #b", "!!python/object:x", "%TAG x", "@x", "? x"),
    *("  x", "x  ", "é", "\U0001f469\u200d\U0001f467", "\u200b", "\ufeff", "\u2028", "<script>"),
]
_TRAPS = st.sampled_from([*_WORDS.split(), *_MARKS])
LINE = st.one_of(_TRAPS, st.text(_LETTERS, max_size=20), st.text("aA \\:#-'\"{}", max_size=12))
NAMES = LINE.map(lambda text: text.replace("\u2028", "").replace("\u2029", "").strip()).filter(bool)
TEXTS = st.lists(st.one_of(LINE, st.sampled_from(["", " ", "\t", "---", "..."])), max_size=5).map(
    "\n".join
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**18), 10**18),
        st.floats(allow_nan=False, allow_infinity=False),
        TEXTS,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)
EXTRAS = st.dictionaries(NAMES.filter(lambda key: key != "unresolved"), VALUES, max_size=3)
KEYS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,11}", fullmatch=True)


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write a file of a playbook; a text may be indented as the test is."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    data = dedent(text).lstrip("\n").encode() if isinstance(text, str) else text
    file.write_bytes(data)
    return file


def tree(root: Path) -> dict[str, bytes]:
    """The files of a directory that are not hidden, by their paths."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    return {path: data for path, data in found.items() if not path.startswith(".")}


async def rows(database: OwnedDatabase, *, history: bool = True) -> dict[str, list[str]]:
    """All rows of the playbook, without their times; without versions where history is not."""
    left_out = set() if history else {"version", "stamp"}
    found = {}
    async with database.engine.connect() as connection:
        for table in metadata.sorted_tables:
            if not history and table.name in HISTORY:
                continue
            timeless = [each for each in table.c if not isinstance(each.type, UtcDateTime)]
            wanted = [each for each in timeless if each.name not in left_out]
            read = (await connection.execute(table.select().with_only_columns(*wanted))).all()
            found[table.name] = sorted(repr(tuple(row)) for row in read)
    return found


async def emptied(database: OwnedDatabase) -> None:
    """Delete all rows."""
    async with database.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            await connection.execute(table.delete())
