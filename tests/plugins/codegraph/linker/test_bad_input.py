"""Programs that are broken, made by machines, huge or ambiguous: no use in them is absent from both
the edges and what is said to be unread."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from plugins.codegraph.languages.composed_names import spellings
from plugins.codegraph.linker.mentions import as_outside
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import LinkedRepo
from tests.plugins.codegraph.linker.linked import linked

MEGABYTES = 2_000_000
TIMES = 50_000
LIBRARY: Mapping[str, Mapping[str, str]] = {
    "python": {"lib.py": "def target(): ...\n"},
    "typescript": {"lib.ts": "export function target() {}\n"},
    "javascript": {"lib.js": "export function target() {}\n"},
    "go": {"go.mod": "module example.org/a\n", "lib.go": "package a\n\nfunc target() {}\n"},
    "java": {"Lib.java": "class Lib { static void target() { } }\n"},
    "rust": {"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": "pub mod use_;\n"},
}
USE: Mapping[str, tuple[str, str, str, str, str]] = {
    "python": ("use.py", "from lib import target\n", "def f{}():\n    target()\n", "", "%%% (\n"),
    "typescript": (
        "use.ts",
        'import {{ target }} from "./lib";\n',
        "function f{}() {{ target(); }}\n",
        "",
        "function %%% ((( {{ }}\n",
    ),
    "javascript": (
        "use.js",
        'import {{ target }} from "./lib.js";\n',
        "function f{}() {{ target(); }}\n",
        "",
        "function %%% ((( {{ }}\n",
    ),
    "go": ("use.go", "package a\n", "func f{}() {{ target() }}\n", "", "func %%% ((( {{ }}\n"),
    "java": (
        "Use.java",
        "class Use {{\n",
        "void f{}() {{ Lib.target(); }}\n",
        "}}\n",
        "void %%% ((( {{ }}\n",
    ),
    "rust": (
        "src/use_.rs",
        "fn target() {{}}\n",
        "fn f{}() {{ target(); }}\n",
        "",
        "fn %%% ((( {{ }}\n",
    ),
}
"""Of each language: a file, its head, a function that uses ``target``, its end, and what is none of
the language."""
LANGUAGES = sorted(USE)


def program(language: str, bodies: str) -> Mapping[str, str]:
    path, head, _, tail, _ = USE[language]
    return {**LIBRARY[language], path: f"{head.format()}{bodies}{tail.format()}"}


def calls(repo: LinkedRepo, name: str = "target") -> dict[int, int]:
    """How many calls of anything of a name are known, by the line of the first in each caller."""
    keys = {each.key for each in repo.entities if each.name == name}
    found = [each for each in repo.edges if each.target in keys and each.kind is EdgeKind.CALLS]
    return {each.line: each.sites for each in found}


def unread(repo: LinkedRepo, name: str = "target") -> int:
    """At how many places a name stands that no edge explains."""
    places = [each.sites for each in repo.mentions if each.name in spellings(name)]
    return sum(places) + sum(each.sites for each in repo.unresolved if each.name == name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_does_not_parse_in_the_middle_leaves_the_rest(language: str) -> None:
    _, _, function, _, broken = USE[language]
    repo = linked(program(language, function.format(1) + broken.format() + function.format(2)))
    assert len(calls(repo)) + unread(repo) >= 2
    assert calls(repo)
    assert any(each.problem for each in repo.reports)


@pytest.mark.heavy
@pytest.mark.parametrize("language", LANGUAGES)
def test_two_megabytes_that_a_program_wrote_are_read_to_the_end(language: str) -> None:
    function = USE[language][2]
    count = MEGABYTES // len(function.format(10_000))
    repo = linked(program(language, "".join(function.format(each) for each in range(count))))
    assert len(calls(repo)) == count
    assert not unread(repo)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_that_occurs_fifty_thousand_times_is_counted_so(language: str) -> None:
    function = USE[language][2]
    call = "Lib.target()" if language == "java" else "target()"
    separator = "\n    " if language == "python" else ";\n"
    body = function.replace(call, separator.join([call] * TIMES))
    repo = linked(program(language, body.format(1)))
    assert sum(calls(repo).values()) == TIMES
    assert not unread(repo)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {
                "one/pkg/__init__.py": "def target(): ...\n",
                "two/pkg/__init__.py": "def target(): ...\n",
                "use.py": "from pkg import target\ntarget()\n",
            },
            id="python",
        ),
        pytest.param(
            {
                "package.json": '{"workspaces": ["one", "two"]}',
                "one/package.json": '{"name": "pkg", "main": "index.js"}',
                "one/index.js": "export function target() {}\n",
                "two/package.json": '{"name": "pkg", "main": "index.js"}',
                "two/index.js": "export function target() {}\n",
                "use.js": 'import { target } from "pkg";\ntarget();\n',
            },
            id="javascript",
        ),
        pytest.param(
            {
                "one/go.mod": "module example.org/pkg\n",
                "one/lib.go": "package pkg\n\nfunc Target() {}\n",
                "two/go.mod": "module example.org/pkg\n",
                "two/lib.go": "package pkg\n\nfunc Target() {}\n",
                "use/go.mod": "module example.org/use\n",
                "use/use.go": 'package use\n\nimport "example.org/pkg"\n\n'
                "func f() { pkg.Target() }\n",
            },
            id="go",
        ),
        pytest.param(
            {
                "one/src/main/java/pkg/Lib.java": "package pkg;\n"
                "public class Lib { public static void target() { } }\n",
                "two/src/main/java/pkg/Lib.java": "package pkg;\n"
                "public class Lib { public static void target() { } }\n",
                "use/src/main/java/Use.java": "import pkg.Lib;\n"
                "class Use { void f() { Lib.target(); } }\n",
            },
            id="java",
        ),
        pytest.param(
            {
                "one/Cargo.toml": '[package]\nname = "pkg"\n',
                "one/src/lib.rs": "pub fn target() {}\n",
                "two/Cargo.toml": '[package]\nname = "pkg"\n',
                "two/src/lib.rs": "pub fn target() {}\n",
                "use/Cargo.toml": '[package]\nname = "use"\n[dependencies]\npkg = "1"\n',
                "use/src/lib.rs": "fn f() { pkg::target(); }\n",
            },
            id="rust",
        ),
    ],
)
def test_two_packages_of_one_name_are_never_taken_for_the_first(files: dict[str, str]) -> None:
    repo = linked(files)
    name = "Target" if "use/use.go" in files else "target"
    declared = {each.key for each in repo.entities if each.name == name}
    assert len(declared) == 2
    used = {
        each.target
        for each in repo.edges
        if each.target in declared and each.kind is not EdgeKind.CONTAINS
    }
    by_path = {
        each.name
        for entity in repo.entities
        if entity.name == name
        for each in repo.mentions
        if each.name in as_outside(entity.path, entity.qualified)
    }
    assert used == declared or unread(repo, name) or by_path


@pytest.mark.parametrize(
    "files",
    [
        {
            "Cargo.toml": '[package]\nname = "a"\n',
            "src/lib.rs": "fn target() {}\nmacro_rules! outer { ($name:ident) => {\n"
            "    macro_rules! $name { () => { target() }; }\n} }\n"
            "outer!(inner);\nfn f() { inner!(); }\n",
        },
        {
            "lib.py": "def target(): ...\n",
            "macros.h": "#define CALL(name) CALL_##name()\n#define CALL_it() target()\n",
        },
        {
            "lib.py": "def target(): ...\n",
            "make.py": "exec('def other(): return ' + 'target()')\n",
        },
        {
            "lib.js": "export function target() {}\n",
            "make.js": 'const f = new Function("return 1 + target");\n',
        },
    ],
    ids=["rust", "c", "python", "javascript"],
)
def test_programs_that_make_programs_are_said_to_be_unread(files: dict[str, str]) -> None:
    assert unread(linked(files))
