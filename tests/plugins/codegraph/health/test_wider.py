"""Packages that reach past each other, what no test reaches, copies, and idle exports."""

from __future__ import annotations

from pathlib import Path

from plugins.codegraph.health.areas import Areas
from plugins.codegraph.health.duplicates import ALIKE, body, similarity
from tests.plugins.codegraph.health.reading import read


def test_an_area_is_a_folder_of_at_most_half_of_the_files() -> None:
    files = [f"src/shop/{name}.py" for name in ("web/a", "web/b", "store/c", "cart", "main")]
    areas = Areas([*files, "scripts/run.py"])
    named = {path: areas.of(path) for path in files}
    assert named["src/shop/web/a.py"] == "src/shop/web"
    assert named["src/shop/cart.py"] == "src/shop/cart.py"
    assert areas.of("scripts/run.py") == "scripts"


async def test_a_package_that_imports_what_is_built_on_it_drifts(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "web/a.py": "from store.c import f\n",
        "web/b.py": "from store.c import f\nfrom store.d import g\n",
        "store/c.py": "def f():\n    return 1\n",
        "store/d.py": "from web.b import x\n\n\ndef g():\n    return x\n",
        "store/e.py": (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from web.a import y\n"
        ),
    }
    (drift,), between = (await read(tree, tmp_path, codegraph_file)).drifts
    assert (drift.lower, drift.upper, drift.along, drift.is_clear) == ("store", "web", 3, True)
    assert drift.against == [("store/d.py", 1, "web/b.py")]
    assert between == 5


async def test_imports_in_one_direction_are_no_drift(tmp_path: Path, codegraph_file: Path) -> None:
    tree = {"web/a.py": "from store.c import f\n", "store/c.py": "def f():\n    return 1\n"}
    assert (await read(tree, tmp_path, codegraph_file)).drifts == ([], 1)


async def test_tests_reach_what_they_call_what_that_calls_and_what_overrides_it(
    tmp_path: Path, codegraph_file: Path
) -> None:
    lib = """
class Shape:
    def __init__(self):
        self.area()

    def area(self):
        return 0

class Circle(Shape):
    def area(self):
        return inner()

def inner():
    return 1

def never():
    return 2

def draw(shape: Shape):
    return shape.area()
"""
    tree = {
        "shop/lib.py": lib,
        "shop/more.py": "def other():\n    return 1\n",
        "tests/test_lib.py": "from shop.lib import draw\n\n\ndef test_it():\n    draw(None)\n",
    }
    found = await read(tree, tmp_path, codegraph_file)
    names = {found.code.entities[at].qualified for each in found.areas for at in each.untested}
    assert names == {"never", "other"}


async def test_where_tests_send_requests_routes_are_reached_and_what_files_run_is_too(
    tmp_path: Path, codegraph_file: Path
) -> None:
    app = """
from flask import Flask

app = Flask(__name__)

@app.get("/orders")
def orders():
    return listed()

def listed():
    return []

def started():
    return 1

def never():
    return 2

READY = started()
"""
    tests = "import app\n\n\ndef test_it():\n    app.app.test_client().get('/orders')\n"
    for text, untested in ((tests, {"never"}), ("import app\n\n\ndef test_it(): ...\n", None)):
        (tmp_path / str(len(text))).mkdir()
        tree = {"app.py": app, "tests/test_app.py": text}
        found = await read(tree, tmp_path / str(len(text)), codegraph_file)
        names = {found.code.entities[at].qualified for each in found.areas for at in each.untested}
        assert names == (untested or {"orders", "listed", "never"})


async def test_where_tests_drive_a_browser_components_are_reached(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "page.tsx": "import { shown } from './store';\nexport const Page = () => shown();\n",
        "store.ts": "export const shown = () => 1;\nexport const never = () => 2;\n",
        "tests/page.test.ts": "import puppeteer from 'puppeteer';\nit('opens', () => {});\n",
    }
    found = await read(tree, tmp_path, codegraph_file)
    names = {found.code.entities[at].qualified for each in found.areas for at in each.untested}
    assert names == {"never"}


async def test_where_there_is_no_test_nothing_is_said_of_what_tests_reach(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {"lib.py": "def f():\n    return 1\n"}
    assert (await read(tree, tmp_path, codegraph_file)).areas == []


FIRST = """def total(items, rate):
    result = 0
    for item in items:
        if item.price > 3 and item.sold:
            result += item.price * rate
        else:
            notify(item, "too cheap")
    return round(result, 2)
"""


def compared(one: str, other: str, language: str = "python") -> float:
    bodies = body(language, one), body(language, other)
    assert bodies[0] is not None
    assert bodies[1] is not None
    return similarity(bodies[0], bodies[1])


def test_copies_with_other_local_names_literals_and_comments_are_the_same() -> None:
    copy = FIRST.replace("items", "rows").replace("item.", "row.").replace("item ", "row ")
    copy = copy.replace("(item,", "(row,").replace("result", "sum_").replace("3", "7")
    copy = copy.replace("    for", "    # each one\n    for").replace(
        "rate):", 'rate):\n    """Doc."""'
    )
    assert compared(FIRST, copy) == 1


def test_the_same_shape_over_other_things_is_no_copy() -> None:
    other = FIRST.replace("price", "weight").replace("sold", "fragile").replace("notify", "pack")
    assert compared(FIRST, other.replace("round", "floor")) == 0


async def test_three_hundred_copies_are_one_cluster_with_what_is_like_them(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {f"copy_{at}.py": FIRST for at in range(300)}
    tree["near.py"] = FIRST.replace("round(result, 2)", "round(result)")
    other = FIRST.replace("price", "weight").replace("sold", "fragile").replace("notify", "pack")
    tree |= {f"other_{at}.py": other for at in range(2)}
    (large, small), _ = (await read(tree, tmp_path, codegraph_file)).copies
    assert (len(large.members), len(small.members)) == (301, 2)
    assert ALIKE <= large.similarity < small.similarity == 1


def test_a_short_body_is_compared_with_nothing() -> None:
    assert body("python", "def f(a):\n    return a.b\n") is None


def test_a_body_that_passes_on_in_one_call_is_compared_with_nothing() -> None:
    arguments = ", ".join(f"name_{at}=name_{at}" for at in range(12))
    assert body("python", f"def get(url):\n    return request('GET', url, {arguments})\n") is None
    assert body("typescript", f"function get() {{ return client.send(({arguments})); }}") is None
    twice = f"def get(url):\n    return request('GET', {arguments}).read(url)\n"
    assert body("python", twice) is not None


async def test_what_no_file_says_is_for_others_is_no_idle_export(
    tmp_path: Path, codegraph_file: Path
) -> None:
    own = "def own():\n    return 1\n\n\ndef used():\n    return own()\n"
    view = "const View = () => inner();\nexport const inner = () => 1;\nexport default View;\n"
    tree = {
        "shop/_inner.py": own,
        "main.py": "from shop._inner import used\n\nused()\n",
        "page.js": "const NAME = 'a';\nself.addEventListener('install', () => NAME);\n",
        "view.tsx": view,
        "start.ts": "export const load = () => import('./view');\nload();\n",
    }
    found = await read(tree, tmp_path, codegraph_file)
    assert found.exports[0] == []


async def test_what_another_file_uses_or_names_is_no_idle_export(
    tmp_path: Path, codegraph_file: Path
) -> None:
    tree = {
        "package.json": '{"private": true}',
        "a.ts": (
            "export function used() { return own() + byText() + local(); }\n"
            "export function own() { return 1; }\n"
            "export function byText() { return 2; }\n"
            "function local() { return 3; }\n"
        ),
        "b.ts": 'import * as a from "./a";\na.used();\n(a as any)["byText"]();\n',
    }
    found = await read(tree, tmp_path, codegraph_file)
    assert [found.code.entities[at].name for at in found.exports[0]] == ["own"]
    assert found.exports[1] == 3
