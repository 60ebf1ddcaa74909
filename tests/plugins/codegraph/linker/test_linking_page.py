"""The developers' page on linking shows what really happens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from plugins.codegraph import facts
from plugins.codegraph.linker import values
from plugins.codegraph.linker.engine import Engine
from plugins.codegraph.linker.evaluate import evaluate
from plugins.codegraph.linker.linker import Linker
from tests.plugins.codegraph.accuracy.harness import shown
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree, parse_tree

PAGE = Path(__file__).parents[4] / "plugins" / "codegraph" / "docs" / "linking.md"
BLOCKS = re.findall(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def blocks(kind: str) -> dict[str, str]:
    """The blocks of a kind, by what stands beside it."""
    return {about: text for each, about, text in BLOCKS if each == kind}


def read(text: str) -> Any:
    """A node or a value, written as Python has it."""
    return eval(text, {**vars(facts), **vars(values)})


@pytest.fixture
def program() -> dict[str, bytes]:
    """The page's program."""
    return {path: text.encode() for path, text in blocks("python").items()}


@pytest.fixture
def view(program: dict[str, bytes]) -> InMemoryView:
    """The program as the linker sees it."""
    return InMemoryView("r", *parse_tree(program))


def test_the_page_has_every_kind_of_block() -> None:
    assert {kind for kind, _, _ in BLOCKS} == {
        *("python", "facts", "values", "edges", "dependencies")
    }


def test_the_files_say_the_facts_of_the_page(view: InMemoryView) -> None:
    for path, text in blocks("facts").items():
        found = view.facts(path)
        assert found is not None
        said = [
            each
            for scope in found.scopes
            for each in (*scope.imports, *scope.binds, *scope.results, *scope.calls)
        ]
        assert said == [read(line) for line in text.splitlines()]


def test_expressions_stand_for_the_values_of_the_page(view: InMemoryView) -> None:
    engine = Engine(view)
    for about, text in blocks("values").items():
        path, scope = about.split()
        for line in text.splitlines():
            expression, _, answer = line.partition(" -> ")
            value, _, rank = answer.rpartition(": ")
            found = evaluate(engine, engine.there(path), int(scope), read(expression))
            assert found == {read(value): getattr(values, rank)}


def test_the_program_has_the_edges_of_the_page(program: dict[str, bytes]) -> None:
    linked = link_tree("r", program)
    names = {each.key: shown(each) for each in linked.entities}
    edges = [
        f"{each.sort or each.kind} {names[each.source]} -> {names[each.target]} "
        f"({each.strategy}, line {each.line})"
        for each in linked.edges
    ]
    assert edges == blocks("edges")[""].splitlines()


def test_a_file_depends_on_what_the_page_says(view: InMemoryView) -> None:
    for path, text in blocks("dependencies").items():
        assert sorted(Linker(view).link(path).dependencies) == text.splitlines()
