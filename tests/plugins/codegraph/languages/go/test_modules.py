"""Which directory an import path of Go means."""

from __future__ import annotations

import pytest

from plugins.codegraph.languages.base import Package
from plugins.codegraph.languages.go import LANGUAGES
from plugins.codegraph.languages.go.modules import Modules
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree

MANIFESTS = {
    "go.work": b"go 1.22\nuse (\n\t./app\n\t./lib // shared\n)\nuse ./tools\n",
    "app/go.mod": (
        b"module example.org/app\n\ngo 1.22\n\nrequire example.org/old v1.0.0\n"
        b"replace example.org/old v1.0.0 => ../lib/old\n"
        b"replace (\n\texample.org/gone => example.org/there v2.0.0\n)\n"
    ),
    "lib/go.mod": b"module example.org/lib/v2 // the second\n",
    "tools/go.mod": b'module "example.org/app/tools"\n',
    "alone/go.mod": b"module example.org/alone\n",
}


def modules() -> Modules:
    return Modules(InMemoryView("r", {}, MANIFESTS))


@pytest.mark.parametrize(
    ("imported", "directory"),
    [
        ("example.org/app", "app"),
        ("example.org/app/internal/x", "app/internal/x"),
        ("example.org/app/tools/y", "tools/y"),
        ("example.org/lib/v2", "lib"),
        ("example.org/lib/v2/z", "lib/z"),
        ("example.org/old", "lib/old"),
        ("example.org/old/sub", "lib/old/sub"),
        ("example.org/lib", None),
        ("example.org/application", None),
        ("example.org/gone", None),
        ("fmt", None),
    ],
)
def test_an_import_path_is_a_directory_of_a_module(imported: str, directory: str | None) -> None:
    assert modules().directory("app/cmd/main.go", imported) == directory


def test_another_module_does_not_see_what_one_replaces() -> None:
    assert modules().directory("alone/main.go", "example.org/old") is None


def test_modules_are_packages_and_those_of_a_workspace_say_so() -> None:
    found = LANGUAGES[0].packages(InMemoryView("r", {}, MANIFESTS))
    assert set(found) == {
        Package("example.org/app", "app", "go", "go.work"),
        Package("example.org/lib/v2", "lib", "go", "go.work"),
        Package("example.org/app/tools", "tools", "go", "go.work"),
        Package("example.org/alone", "alone", "go", ""),
    }


def callees(files: dict[str, str]) -> set[str]:
    linked = link_tree("r", {path: text.encode() for path, text in files.items()})
    names = {each.key: f"{each.path}:{each.qualified}" for each in linked.entities}
    return {names[each.target] for each in linked.edges if each.kind is EdgeKind.CALLS}


def test_a_file_sees_the_function_of_its_own_platform() -> None:
    files = {
        "a_linux.go": "package p\nfunc one() {}\n",
        "a_windows.go": "package p\nfunc one() {}\n",
        "b_windows.go": "package p\nfunc two() { one() }\n",
    }
    assert callees(files) == {"a_windows.go:one"}


def test_tests_of_a_package_are_not_seen_by_it() -> None:
    files = {
        "a.go": "package p\nfunc f() { helper() }\n",
        "a_test.go": "package p\nfunc helper() {}\n",
    }
    assert callees(files) == set()


def test_two_packages_in_one_directory_do_not_see_each_other() -> None:
    files = {
        "a.go": "package p\nfunc f() {}\n",
        "a_test.go": "package p_test\nfunc g() { f() }\n",
    }
    assert callees(files) == set()


def test_a_package_is_called_by_its_clause_not_by_its_directory() -> None:
    files = {
        "go.mod": "module m\n",
        "main.go": 'package main\nimport "m/go-yaml"\nfunc main() { yml.Parse() }\n',
        "go-yaml/x.go": "package yml\nfunc Parse() {}\n",
    }
    assert callees(files) == {"go-yaml/x.go:Parse"}


def test_a_conversion_is_no_call_and_keeps_the_type() -> None:
    files = {
        "a.go": (
            "package p\ntype id int\nfunc (i id) show() {}\n"
            "func max(a, b int) int { return a }\n"
            'func f() { id(3).show(); max(1, 2); len(g()) }\nfunc g() string { return "" }\n'
        )
    }
    assert callees(files) == {"a.go:id.show", "a.go:max", "a.go:g"}
