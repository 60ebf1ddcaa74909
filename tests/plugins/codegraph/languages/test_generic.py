"""Files that no language module reads are files of a known language."""

from __future__ import annotations

import pytest

from plugins.codegraph.languages.registry import language_named, language_of
from plugins.codegraph.model import EntityKind
from tests.plugins.codegraph.linker.in_memory import link_tree


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("README.md", "markdown"),
        ("a/b.YML", "yaml"),
        ("db/schema.sql", "sql"),
        ("src/main.c", "c"),
        ("lib/x.rb", "ruby"),
        ("Makefile", "make"),
        ("docker/Dockerfile", "dockerfile"),
        ("LICENSE", "text"),
        ("main.go", "go"),
    ],
)
def test_the_name_of_a_file_tells_its_language(path: str, language: str) -> None:
    found = language_of(path)
    assert found is not None
    assert found.name == language
    assert language_named(language) is found


@pytest.mark.parametrize("path", ["photo.png", "data", "a.unheardof", ".gitignore"])
def test_other_files_have_no_language(path: str) -> None:
    assert language_of(path) is None


def test_they_are_entities_without_edges() -> None:
    linked = link_tree("r", {"README.md": b"# Title\n\nWhat it is.\n", "x.sql": b"SELECT 1"})
    assert [each.kind for each in linked.entities] == [EntityKind.FILE, EntityKind.FILE]
    assert linked.entities[0].doc == "# Title\n\nWhat it is."
    assert linked.entities[1].end_line == 1
    assert not linked.edges
    assert not linked.unresolved
