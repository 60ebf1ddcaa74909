"""What no edge explains: no answer is complete while a name stands unexplained."""

from __future__ import annotations

from textwrap import dedent

import pytest

from plugins.codegraph.languages.identifiers import words_of
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.linked import linked


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (
            {
                "lib.py": "def target(): ...\n",
                "hub.py": "from lib import target as t2\n",
                "use.py": "from hub import t2\nregister(t2)\n",
            },
            "target",
        ),
        (
            {
                "lib.ts": "export default function target() {}\n",
                "use.ts": 'import other from "./lib";\nregister(other);\n',
            },
            "target",
        ),
        (
            {
                "lib.ts": "export function target() {}\n",
                "hub.ts": 'export { target as other } from "./lib";\n',
                "use.ts": 'import { other } from "./hub";\nregister(other);\n',
            },
            "target",
        ),
    ],
)
def test_another_name_of_a_thing_counts_as_its_own(files: dict[str, str], name: str) -> None:
    repo = linked(files)
    (entity,) = [each for each in repo.entities if each.name == name]
    found = [e for e in repo.edges if e.target == entity.key and e.kind is EdgeKind.REFERENCES]
    assert [each.path for each in found] == [list(files)[-1]]


def test_a_setting_that_names_an_entry_point_is_a_mention() -> None:
    found = linked({"a.py": "def target(): ...\n", "b.toml": 'run = "a:target"\n'}).mentions
    assert [each.path for each in found if each.name == "target"] == ["b.toml"]


def test_calls_imports_bases_and_lists_of_exports_explain_a_name() -> None:
    repo = linked(
        {
            "lib.py": """
                __all__ = ["Base", "target"]

                class Base:
                    def run(self):
                        return self.step()

                    def step(self):
                        # target and Base are named in this comment
                        return target(target(1))

                def target(x):
                    "What target does."
                    return x
            """,
            "use.py": """
                from lib import Base, target as other

                class Sub(Base):
                    pass

                def go():
                    other(2)
                    Base().run()
            """,
        }
    )
    assert not {"Base", "target", "run", "step"} & {each.name for each in repo.mentions}


def test_comments_and_prose_name_nothing() -> None:
    text = dedent(
        '''
        """Module with target."""
        # target
        x = "a sentence about target"
        '''
    )
    assert "target" not in words_of("python", text.encode())
    script = b"// target\n/* target\n target */ const s = 'about target now';"
    assert "target" not in words_of("typescript", script)
    assert "target" not in words_of("markdown", b"`target`")


def test_the_type_of_a_module_as_a_calls_argument_is_no_syntax_error() -> None:
    use = """
        import { load } from "./lib";
        export async function go() { return await load<typeof import('./lib')>('./lib'); }
    """
    repo = linked({"lib.ts": "export function load<T>(x: string) {}\n", "use.ts": use})
    assert [each.problem for each in repo.reports] == ["", ""]
    (load,) = [each for each in repo.entities if each.name == "load"]
    assert any(e.kind is EdgeKind.CALLS and e.target == load.key for e in repo.edges)


@pytest.mark.parametrize(
    ("use", "named"),
    [
        ("from lib import target as target\n", 0),
        ("from lib import target as target\nregister(other.target)\n", 1),
        ("from lib import target as target; register(other.target)\n", 1),
        ("import other as target\nother.target\n", 1),
    ],
)
def test_a_name_that_is_bound_to_itself_is_named_once(use: str, named: int) -> None:
    found = linked({"lib.py": "def target(): ...\n", "hub.py": use}).mentions
    assert sum(each.sites for each in found if each.name == "target") == named


def test_a_member_of_what_seems_to_be_outside_is_noted_as_asked_for() -> None:
    found = linked(
        {
            "a.py": """
                import os
                import loaders
                from lib import Refs

                def run(path: str, refs: Refs):
                    os.path.join(path, "x")
                    refs.update()
                    loaders.find(path).settings()
                    {}.keep()
                """,
            "lib.py": "class Refs:\n    def update(self): ...\n",
        }
    ).mentions
    names = {each.name for each in found if each.name.startswith(".")}
    assert names == {".settings", ".keep"}


def test_a_name_with_combining_marks_is_one_name() -> None:
    found = linked({"a.py": "for each in ('עִברִית', 'देवनागरी'):\n    getattr(pages, each)\n"})
    assert {each.name for each in found.mentions} >= {"עִברִית", "देवनागरी"}


def test_a_line_of_a_text_that_is_a_dotted_name_names_what_it_ends_with() -> None:
    doc, listed = '"""Does.\n    it.well\n    """', '"""a.one\nb.two"""'
    program = f'def f():\n    {doc}\n    g({{"all": {listed}}})\n'
    found = linked({"a.py": program}).mentions
    names = {each.name for each in found}
    assert {"one", "two"} <= names
    assert "well" not in names
