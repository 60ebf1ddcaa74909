"""Which file a Python import means."""

from __future__ import annotations

import pytest

from plugins.codegraph.facts import Import
from plugins.codegraph.languages.python import LANGUAGES
from plugins.codegraph.languages.rules import Target
from tests.plugins.codegraph.linker.in_memory import InMemoryView, parse_tree


def _target(files: list[str], path: str, module: str, level: int = 0, **manifests: str) -> Target:
    texts = dict.fromkeys(files, b"")
    texts |= {name.replace("__", "/"): text.encode() for name, text in manifests.items()}
    world = InMemoryView("r", *parse_tree(texts))
    return LANGUAGES[0].rules(world).module(path, Import("x", module, level=level))


@pytest.mark.parametrize(
    ("files", "path", "module", "level", "found"),
    [
        (["a.py", "b.py"], "a.py", "b", 0, ("b.py",)),
        (["p/__init__.py", "p/m.py"], "main.py", "p.m", 0, ("p/m.py",)),
        (["p/__init__.py"], "main.py", "p", 0, ("p/__init__.py",)),
        (["src/p/__init__.py", "src/p/m.py"], "tests/t.py", "p.m", 0, ("src/p/m.py",)),
        (["p/__init__.py", "p/a.py", "p/b.py"], "p/a.py", "b", 1, ("p/b.py",)),
        (["p/__init__.py", "p/q/__init__.py", "p/b.py"], "p/q/c.py", "b", 2, ("p/b.py",)),
        (["p/__init__.py", "p/a.py"], "p/__init__.py", "a", 1, ("p/a.py",)),
        (["ns/one/__init__.py"], "main.py", "ns.one", 0, ("ns/one/__init__.py",)),
        (["p/__init__.py", "p/m.pyi"], "main.py", "p.m", 0, ("p/m.pyi",)),
        (["p/__init__.py", "p/m.py", "p/m.pyi"], "main.py", "p.m", 0, ("p/m.py",)),
        (["apps/x/a.py", "apps/x/b.py"], "apps/x/a.py", "b", 0, ("apps/x/b.py",)),
    ],
)
def test_a_module_is_a_file(
    files: list[str], path: str, module: str, level: int, found: tuple[str, ...]
) -> None:
    assert _target(files, path, module, level).paths == found


def test_a_module_that_is_not_there_is_external() -> None:
    assert _target(["a.py"], "a.py", "numpy.linalg") == Target(external=True, name="numpy.linalg")


def test_the_standard_library_comes_before_other_roots() -> None:
    files = ["tools/logging.py", "app/main.py", "app/__init__.py"]

    assert _target(files, "app/main.py", "logging").external


def test_a_relative_import_of_nothing_is_unknown() -> None:
    assert _target(["p/__init__.py"], "p/a.py", "gone", 1) == Target()


def test_a_uv_workspace_finds_its_members() -> None:
    files = {
        "pyproject.toml": b'[tool.uv.workspace]\nmembers = ["packages/*"]\n',
        "packages/one/pyproject.toml": b'[project]\nname = "one"\n',
        "packages/one/src/one/__init__.py": b"",
        "packages/two/pyproject.toml": b'[project]\nname = "two"\n',
        "packages/two/src/two/main.py": b"",
    }
    world = InMemoryView("r", *parse_tree(files))
    found = LANGUAGES[0].rules(world).module("packages/two/src/two/main.py", Import("one", "one"))

    assert found.paths == ("packages/one/src/one/__init__.py",)
    assert [(each.name, each.tool) for each in LANGUAGES[0].packages(world)] == [
        ("one", "uv"),
        ("two", "uv"),
    ]


def test_a_manifest_may_say_where_packages_are() -> None:
    files = {
        "pyproject.toml": b'[tool.setuptools.packages.find]\nwhere = ["python"]\n',
        "python/p/__init__.py": b"",
        "t/x/main.py": b"",
    }
    world = InMemoryView("r", *parse_tree(files))

    assert LANGUAGES[0].rules(world).module("t/x/main.py", Import("p", "p")).paths == (
        "python/p/__init__.py",
    )
