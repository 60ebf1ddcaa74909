"""Definitions become entities with what they inherit from those around them."""

from __future__ import annotations

from plugins.codegraph.facts import Definition
from plugins.codegraph.linker.entities import are_tests
from plugins.codegraph.model import EntityKind


def test_what_is_local_to_a_test_is_a_test_too_and_a_member_of_a_test_class_by_its_own() -> None:
    function, method, class_ = EntityKind.FUNCTION, EntityKind.METHOD, EntityKind.CLASS
    definitions = [
        _definition(function, "test_it", test=True),
        _definition(class_, "Fake", parent=0),
        _definition(method, "send", parent=1),
        _definition(class_, "TestAll", test=True),
        _definition(method, "helper", parent=3),
        _definition(function, "plain"),
    ]
    assert are_tests(definitions) == [True, True, True, True, False, False]


def _definition(kind: EntityKind, name: str, parent: int = -1, *, test: bool = False) -> Definition:
    return Definition(kind, name, name, 1, 2, 0, 9, parent=parent, test=test)
