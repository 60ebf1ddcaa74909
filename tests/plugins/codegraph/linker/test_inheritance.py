"""Whatever a class extends is used by it."""

from __future__ import annotations

import pytest

from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.linked import linked

BASES = ["class Base {}", "function Base() {}", "const Base = function () {}"]
SUBCLASSES = [
    "class A extends Base {}",
    "const A = class extends Base {}",
    "window.A = class extends Base {}",
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("subclass", SUBCLASSES)
@pytest.mark.parametrize("language", ["ts", "js"])
def test_a_class_of_javascript_extends_a_class_or_a_function(
    language: str, base: str, subclass: str
) -> None:
    repo = linked({f"a.{language}": f"{base}\n{subclass}\nexport const B = 1\n"})
    (key,) = [each.key for each in repo.entities if each.name == "Base"]
    assert [each.kind for each in repo.edges if each.target == key and each.kind != "contains"] == [
        EdgeKind.EXTENDS
    ]
