"""Functions within functions are used by what takes, stores and returns them, in every block."""

from __future__ import annotations

import pytest

from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.linked import linked

BLOCKS = {
    "none": "{}",
    "block": "{{ {} }}",
    "if": "if (i) {{ {} }}",
    "for": "for (let j = 0; j < 3; j++) {{ {} }}",
    "for of": "for (const j of data) {{ {} }}",
    "while": "while (i) {{ {} }}",
    "try": "try {{ {} }} catch (e) {{}}",
    "switch": "switch (i) {{ case 1: {} }}",
}
DEFINITIONS = [
    "const runner = () => 1",
    "let runner = (function () { return 1 })",
    "const runner = class { m() {} }",
    "function runner() { return 1 }",
]
USES = [
    "data[i] = runner",
    "data.push(runner)",
    "return runner",
    "return { runner }",
    "return [...data, runner]",
    "return i ? runner : null",
    "data.x = runner",
    "const other = runner",
    "data.push(() => runner)",
]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("language", ["ts", "js"])
def test_a_local_function_that_is_handed_on_is_used(language: str, block: str) -> None:
    unused = []
    for definition in DEFINITIONS:
        for use in USES:
            body = BLOCKS[block].format(f"{definition}; {use}")
            text = f"export function make(data, i) {{\n {body}\n return data\n}}\n"
            repo = linked({f"a.{language}": text})
            (key,) = [each.key for each in repo.entities if each.name == "runner"]
            if not any(
                each.target == key and each.kind != EdgeKind.CONTAINS for each in repo.edges
            ):
                unused.append((definition, use))
    assert unused == []
