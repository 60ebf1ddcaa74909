"""SQLite finds entries by their ids and by their names, and reads no whole layer for them."""

from __future__ import annotations

import sqlite3

import pytest

from tests.migrated import Migrated


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (
            "SELECT version FROM memory_entries WHERE layer = 'semantic' AND id IN (1, 2, 3)",
            "INDEX sqlite_autoindex_memory_entries_1 (id=?)",
        ),
        (
            "SELECT id FROM memory_words JOIN memory_entries ON entry = number "
            "WHERE memory_words.layer = 'semantic' AND term IN (1, 2)",
            "memory_words USING PRIMARY KEY (layer=? AND term=?)",
        ),
        (
            "SELECT id FROM memory_entities JOIN memory_entries ON entry = number "
            "WHERE entity = 'a' AND layer = 'semantic'",
            "memory_entities USING PRIMARY KEY (entity=?)",
        ),
    ],
)
def test_what_is_asked_for_is_found_by_the_index(
    knowledge_migrated: Migrated, query: str, found: str
) -> None:
    with sqlite3.connect(knowledge_migrated.file) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchone()
    assert found in plan[3]
