"""What is named and not called: no answer is complete while a name stands unexplained."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.codegraph.languages.identifiers import words_of
from plugins.codegraph.model import EdgeKind
from tests.examples import examples
from tests.plugins.codegraph.linker.linked import linked

PYTHON = {
    "call": ("", "target()"),
    "passed": ("", "register(target)"),
    "stored": ("", "TABLE['x'] = target"),
    "named": ("", "x = [target, 1]"),
    "string": ("", "getattr(mod, 'target')"),
    "path": ("", "import_string('lib.target')"),
    "template": ("", "x = f'{target!r}'"),
    "raised": ("", "raise target"),
    "typed": ("", "def g(x: target) -> None: ..."),
    "decorated": ("", "@register(target)\ndef g(): ..."),
    "aliased": ("import target as other", "register(other)"),
    "module": ("", "import lib\nregister(lib.target)"),
}
SCRIPT = {
    "call": ("", "target();"),
    "passed": ("", "register(target);"),
    "stored": ("", "const t = { x: target };"),
    "shorthand": ("", "const t = { target };"),
    "string": ("", "x['target'];"),
    "template": ("", "const s = `don't ${target}`;"),
    "after": ("", 'const s = "it\'s", u = target;'),
    "aliased": ("target as other", "register(other);"),
}
GO = {
    "call": "target()",
    "passed": "register(target)",
    "stored": "x := target; _ = x",
    "deferred": "defer register(target)",
    "mapped": 'm := map[string]func(){"a": target}; _ = m',
}
JAVA = {
    "call": "target();",
    "passed": "register(Lib::target);",
    "reflected": 'Lib.class.getMethod("target");',
}
RUST = {
    "call": "target();",
    "passed": "register(target);",
    "stored": "let x = target;",
    "mapped": "xs.iter().map(target);",
    "raw": 'let s = "two\nlines"; register(target);',
}


def program(language: str, used: list[str]) -> Mapping[str, str]:
    """Two files, or one: a definition, and the ways in which it is referred to."""
    if language == "python":
        heads = [f"from lib {PYTHON[each][0] or 'import target'}" for each in used]
        bodies = [PYTHON[each][1] for each in used]
        lines = "\n".join(f"{line}" for each in bodies for line in each.splitlines())
        return {"lib.py": "def target():\n    return 1\n", "use.py": "\n".join([*heads, lines, ""])}
    if language == "typescript":
        names = ", ".join(dict.fromkeys(SCRIPT[each][0] or "target" for each in used))
        body = "\n".join(SCRIPT[each][1] for each in used)
        use = f'import {{ {names} }} from "./lib";\n{body}\n'
        return {"lib.ts": "export function target() { return 1; }\n", "use.ts": use}
    ways = {"go": GO, "java": JAVA, "rust": RUST}[language]
    body = "\n".join(ways[each] for each in used)
    if language == "go":
        return {
            "go.mod": "module example.org/a\n",
            "a.go": f"package a\n\nfunc target() {{}}\n\nfunc use() {{\n{body}\n}}\n",
        }
    if language == "java":
        use = f"static void use() throws Exception {{\n{body}\n}}"
        return {"Lib.java": f"class Lib {{\nstatic void target() {{ }}\n{use}\n}}\n"}
    return {"src/lib.rs": f"fn target() {{}}\n\nfn use_it() {{\n{body}\n}}\n"}


WAYS = {
    "python": list(PYTHON),
    "typescript": list(SCRIPT),
    "go": list(GO),
    "java": list(JAVA),
    "rust": list(RUST),
}


@pytest.mark.parametrize("language", list(WAYS))
@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_a_name_that_stands_unexplained_is_a_mention(language: str, data: st.DataObject) -> None:
    used = data.draw(st.lists(st.sampled_from(WAYS[language]), min_size=1, unique=True))
    files = program(language, used)
    repo = linked(files)
    there = any(each.name == "target" for each in repo.mentions)
    assert there is (used != ["call"]), files
    (entity,) = [each for each in repo.entities if each.name == "target"]
    callers = [e for e in repo.edges if e.kind is EdgeKind.CALLS and e.target == entity.key]
    assert bool(callers) or "call" not in used


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
        ({"a.py": "class A:\n    def __init__(self): ...\nclass Sub(A): ...\nSub()\n"}, "Sub"),
        ({"a.py": "def target(): ...\n", "b.toml": 'run = "a:target"\n'}, "target"),
    ],
)
def test_another_name_of_a_thing_counts_as_its_own(files: dict[str, str], name: str) -> None:
    found = [each for each in linked(files).mentions if each.name == name]
    assert [each.path for each in found] == [list(files)[-1]]


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
        ("from lib import target as target\nregister(target)\n", 1),
        ("from lib import target as target; register(target)\n", 1),
        ("with target as target:\n    pass\n", 1),
    ],
)
def test_a_name_that_is_bound_to_itself_is_named_once(use: str, named: int) -> None:
    found = linked({"lib.py": "def target(): ...\n", "hub.py": use}).mentions
    assert sum(each.sites for each in found if each.name == "target") == named
