"""SQLite finds names in a layer by the index, and does not read the layer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("table", "column"), [("mentions", "name"), ("unresolved", "name"), ("endpoints", "entity")]
)
@pytest.mark.parametrize("condition", ["= 'a'", "IN ('a', 'b')"])
def test_what_is_sought_by_name_is_found_by_the_index(
    codegraph_file: Path, table: str, column: str, condition: str
) -> None:
    query = f"SELECT line FROM codegraph_{table} WHERE layer = 1 AND org = 'o' AND repo = 'r'"
    with sqlite3.connect(codegraph_file) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query} AND {column} {condition}").fetchone()
    assert f"INDEX ix_codegraph_{table}_{column} (layer=? AND {column}=?)" in plan[3]


def test_what_is_sought_by_path_is_found_by_the_key(codegraph_file: Path) -> None:
    query = "DELETE FROM codegraph_mentions WHERE layer = 1 AND path IN ('a', 'b')"
    with sqlite3.connect(codegraph_file) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchone()
    assert "PRIMARY KEY (layer=? AND path=?)" in plan[3]
