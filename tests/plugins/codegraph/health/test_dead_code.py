"""What is dead, and what only seems to be."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.codegraph.health.reading import read

MAIN = """
import shop.stock
from shop import stock
from shop.stock import Shelf, take

def main():
    take()
    Shelf().fill()
    getattr(stock, "by_text")()
    stock.of_unknown().by_name()

if __name__ == "__main__":
    main()
"""
STOCK = """
from shop.web import route

def take():
    return 1

def alone():
    return only_by_dead()

def only_by_dead():
    return 2

def by_text():
    return 3

def by_name():
    return 4

@route("/stock")
def served():
    return 5

def __getattr__(name):
    return None

class Shelf:
    def fill(self):
        return 6

    def spare(self):
        return 7

class Unused:
    def inner(self):
        return 8
"""
WEB = """
def route(path):
    return lambda function: function
"""
TREE = {"shop/__init__.py": "", "shop/stock.py": STOCK, "shop/web.py": WEB, "main.py": MAIN}


async def names(files: dict[str, str], tmp_path: Path, migrated: Path) -> set[str]:
    return {each.entity.qualified for each in (await read(files, tmp_path, migrated)).dead}


async def test_dead_is_what_nothing_or_only_dead_code_uses(
    tmp_path: Path, codegraph_file: Path
) -> None:
    found = await names(TREE, tmp_path, codegraph_file)
    assert found == {"alone", "only_by_dead", "Shelf.spare", "Unused"}


async def test_what_only_dead_code_uses_says_so_and_is_less_sure(
    tmp_path: Path, codegraph_file: Path
) -> None:
    found = {each.entity.name: each for each in (await read(TREE, tmp_path, codegraph_file)).dead}
    assert [each.name for each in found["only_by_dead"].users] == ["alone"]
    assert found["only_by_dead"].confidence < found["alone"].confidence


async def test_public_names_of_a_package_that_others_install_are_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    built = '[project]\nname = "shop"\n[build-system]\nrequires = []\n'
    private = {"shop/_inner.py": "def hidden():\n    return 1\n"}
    main = {"main.py": f"import shop._inner\n{MAIN}"}
    tree = {**TREE, **private, **main, "pyproject.toml": built}
    assert await names(tree, tmp_path, codegraph_file) == {"hidden"}


async def test_what_an_application_declares_as_a_command_is_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    scripts = '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.stock:alone"\n'
    found = await names({**TREE, "pyproject.toml": scripts}, tmp_path, codegraph_file)
    assert found == {"Shelf.spare", "Unused"}


async def test_overloads_of_what_is_used_are_not_dead(tmp_path: Path, codegraph_file: Path) -> None:
    lib = (
        "from typing import overload\n\n@overload\ndef f(a: int) -> int: ...\n"
        "@overload\ndef f(a: str) -> str: ...\ndef f(a):\n    return a\n"
    )
    tree = {"lib.py": lib, "main.py": "from lib import f\n\nf(1)\n"}
    assert await names(tree, tmp_path, codegraph_file) == set()


async def test_what_the_entry_of_an_npm_package_exports_is_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "package.json": '{"name": "shop", "main": "dist/index.js"}',
        "src/index.ts": "import './inner';\nexport function shown() { return 1 }\n",
        "src/inner.ts": "export function hidden() { return 2 }\nfunction local() { return 3 }\n",
    }
    assert await names(tree, tmp_path, codegraph_file) == {"hidden", "local"}


async def test_handlers_in_objects_and_what_is_local_are_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    text = """
export function start(socket: any, data: any) {
  socket.onopen = () => { socket.ready = true; };
  const runner = () => { data.done = true; };
  data[0] = runner;
  const handlers = { "edge-light": () => 1, bun: () => 2 };
  return (handlers as any)[data.runtime]();
}
"""
    tree = {"a.ts": text, "b.ts": 'import { start } from "./a";\nstart({}, {});\n'}
    assert await names(tree, tmp_path, codegraph_file) == set()


async def test_what_a_pattern_of_exports_shows_is_not_dead_and_the_rest_may_be(
    tmp_path: Path, codegraph_file: Path
) -> None:
    exports = '{"exports": {"./utils/*": "./dist/esm/utils/*.js", "./web": "./dist/web/index.js"}}'
    tree = {
        "package.json": exports,
        "src/utils/shown.ts": "export function shown() { return 1; }\n",
        "src/web/index.ts": "import '../inner/a';\nexport * from './all';\n",
        "src/web/all.ts": "export function entry() { return 1; }\n",
        "src/inner/a.ts": "export function hidden() { return 1; }\n",
    }
    assert await names(tree, tmp_path, codegraph_file) == {"hidden"}


async def test_no_finding_is_about_examples_or_generated_code(
    tmp_path: Path, codegraph_file: Path
) -> None:
    text = "def spare():\n    return 1\n"
    tree = {"examples/a.py": text, "main.py": "import examples.a\nimport api_pb2\n"}
    assert await names({**tree, "api_pb2.py": text}, tmp_path, codegraph_file) == set()


async def test_what_a_public_module_passes_on_is_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    project = '[build-system]\nrequires = ["hatchling"]\n[project]\nname = "shop"\n'
    tree = {
        "pyproject.toml": project,
        "shop/__init__.py": "from ._errors import *\n",
        "shop/_errors.py": '__all__ = ["Closed"]\n\n\nclass Closed:\n    code = 1\n',
    }
    assert await names(tree, tmp_path, codegraph_file) == set()


async def test_what_is_loaded_built_or_declared_otherwise_is_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "view.tsx": "const View = () => 1;\nexport default View;\n",
        "start.ts": "const load = () => import('./view');\nload();\n",
        "types.ts": "declare global {\n  interface Window {\n    shop: string;\n  }\n}\n"
        "export const shop = 1;\n",
        "use.ts": "import { shop } from './types';\nimport './start';\nconsole.log(shop);\n",
        "main.go": "package main\n\nfunc main() { mask() }\n",
        "mask_unix.go": "//go:build unix\n\npackage main\n\nvar mask = func() {}\n",
        "mask_other.go": "//go:build !unix\n\npackage main\n\nfunc mask() {}\n",
    }
    assert await names(tree, tmp_path, codegraph_file) == set()


async def test_methods_of_a_class_that_is_handed_on_are_not_dead(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "urls.py": "from framework import register\n\n\nclass Quote:\n    def to_url(self, a):\n"
        "        return a\n\n\nregister(Quote, 'quoted')\n",
        "back.py": "class Basic:\n    def get_user(self, a):\n        return a\n\n\n"
        "class Email(Basic):\n    x = 1\n",
        "settings.py": "import back\nimport urls\n\nBACKENDS = ['back.Email']\n",
    }
    assert await names(tree, tmp_path, codegraph_file) == set()
