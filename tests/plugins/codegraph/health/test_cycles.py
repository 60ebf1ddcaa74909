"""Files that import each other in a circle, and when."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.codegraph.health.reading import read


async def loops(
    files: dict[str, str], tmp_path: Path, migrated: Path
) -> set[tuple[str, tuple[str, ...]]]:
    found = (await read(files, tmp_path, migrated)).loops
    return {(each.at, tuple(each.files)) for each in found}


async def test_circles_are_told_by_when_they_load_each_other(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "a.py": "from b import f\n\ndef g():\n    return f\n",
        "b.py": "from a import g\n\ndef f():\n    return g\n",
        "c.py": "from d import f\n\ndef g():\n    return f\n",
        "d.py": "def f():\n    from c import g\n    return g\n",
        "e.py": "from f import T\n\nclass U:\n    t: T\n",
        "f.py": (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from e import U\n\n"
            "class T:\n    u: 'U'\n"
        ),
        "g.py": "import a\nimport c\n",
    }
    assert await loops(tree, tmp_path, codegraph_file) == {
        ("import time", ("a.py", "b.py")),
        ("later", ("c.py", "d.py")),
        ("types", ("e.py", "f.py")),
    }


async def test_a_circle_of_types_in_typescript_is_none_at_import_time(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "a.ts": "import type { B } from './b';\nexport interface A { b: B }\n",
        "b.ts": "import { type A } from './a';\nexport interface B { a: A }\n",
        "c.ts": "import { d } from './d';\nexport const c = () => d();\n",
        "d.ts": "import { c } from './c';\nexport const d = () => c();\n",
    }
    assert await loops(tree, tmp_path, codegraph_file) == {
        ("import time", ("c.ts", "d.ts")),
        ("types", ("a.ts", "b.ts")),
    }


async def test_a_circle_names_its_shortest_way_with_the_line_of_each_import(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "a.py": "\nimport b\n",
        "b.py": "\n\nimport c\n",
        "c.py": "import a\nimport b\n",
    }
    (loop,) = (await read(tree, tmp_path, codegraph_file)).loops
    assert (loop.way, loop.lines) == (["b.py", "c.py"], [3, 2])
    assert loop.files == ["a.py", "b.py", "c.py"]
