"""What can be deleted, and what speaks against it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.plugins.codegraph.portal import World, world

TREE = {
    "lib.py": b'''"""A library."""

import threading

__all__ = ["listed", "called"]


def listed():
    return helper()


def helper():
    return recursive(1)


def recursive(n):
    return recursive(n - 1)


def called():
    return LIMIT


def alone():
    return alone


def named():
    return 1


@register
def decorated():
    return 1


def setUp():
    return 1


LIMIT = 1
COMPUTED = helper()


class Worker(threading.Thread):
    def run(self):
        return 1


class Base:
    def act(self):
        return 1


class Sub(Base):
    def act(self):
        return 2

    def spare(self):
        return 3


class Handle:
    def flush(self):
        return 1


class Lonely:
    def work(self):
        return self.work()
''',
    "use.py": b"from lib import Sub, called\n\nSub().act()\ncalled()\nrun('named')\n",
    "test_lib.py": b"""def test_nothing():
    assert True


class TestIt:
    def teardown_method(self):
        print("x")


class Double:
    def reply(self):
        return 1
""",
    "conf.py": b"html_theme = 'x'\n\n\ndef ready(app):\n    return app\n",
    "pages.py": b"""
from registry import Registered


class Page(Registered):
    def show_it(self):
        return 1


class Oops(ValueError):
    limit = 1


class Task(library.Task):
    pass


class Reader:
    def read(self, kind):
        return getattr(self, f"parse_{kind}")()

    def parse_set(self):
        return 1

    def reset(self):
        return 1
""",
    "registry.py": b"""
class Registered:
    all = []

    def __init_subclass__(cls):
        cls.all.append(cls)


class Stubbed:
    pass
""",
    "registry.pyi": b"class Stubbed: ...\ndef stub() -> None: ...\n",
    "run.py": b"import conf_of_another\nimport pages\nimport registry\nimport routes\n",
    "routes.py": b"""
import plaster
from registry import route


@route(
    "/plain",
    methods=["GET"],
)
def over_lines():
    return 1


class Views:
    @route("/view")
    def show(self):
        return 1


class Shape:
    @property
    def size(self):
        return 1


class Loader:
    def settings_of_app(self):
        return {}

    def spare_settings(self):
        return {}


def settings(path):
    return plaster.get_loader(path).settings_of_app()
""",
    "web.ts": b"export class Handler { onClick() { return 1; } onceMore() { return 2; }\n"
    b"run(kind: string) { return this['on' + kind](); } }\nnew Handler().run('Click');\n",
    "main.ts": b"import './web';\n",
}


@pytest.fixture
async def town(tmp_path: Path, codegraph_file: Path) -> AsyncIterator[World]:
    async with world(tmp_path, None, codegraph_file) as made:
        await made.index("town", TREE)
        yield made


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("alone", "safe"),
        ("Lonely", "safe"),
        ("Lonely.work", "safe"),
        ("Sub.spare", "safe"),
        ("listed", "safe"),
        ("helper", "used"),
        ("called", "used"),
        ("LIMIT", "used"),
        ("Base", "used"),
        ("Sub", "used"),
        ("Sub.act", "used"),
        ("named", "unsure"),
        ("decorated", "unsure"),
        ("setUp", "unsure"),
        ("COMPUTED", "unsure"),
        ("Worker.run", "unsure"),
        ("Base.act", "unsure"),
        ("Handle.flush", "unsure"),
        ("test_nothing", "unsure"),
        ("teardown_method", "unsure"),
        ("Double.reply", "unsure"),
        ("html_theme", "unsure"),
        ("ready", "unsure"),
        ("Page", "unsure"),
        ("Oops", "safe"),
        ("Task", "unsure"),
        ("parse_set", "unsure"),
        ("stub", "unsure"),
        ("Reader", "safe"),
        ("onClick", "unsure"),
        ("over_lines", "unsure"),
        ("Views", "unsure"),
        ("Shape", "safe"),
        ("settings_of_app", "unsure"),
        ("spare_settings", "safe"),
    ],
)
async def test_only_what_nothing_can_reach_is_safe_to_delete(
    town: World, name: str, verdict: str
) -> None:
    answer = await town.call("safe_to_delete", name=name)
    assert answer["verdict"] == verdict, answer["why"]
    assert answer["why"]
    assert bool(answer["useCount"]) == (verdict == "used")


async def test_what_uses_it_is_listed_and_where_its_name_is_exported(town: World) -> None:
    answer = await town.call("safe_to_delete", name="called")
    assert {(each["by"], each["at"]) for each in answer["uses"]} == {
        ("imported", "use.py:1"),
        ("called", "use.py:4"),
    }
    listed = await town.call("safe_to_delete", name="listed")
    assert listed["also"] == ["lib.py:5"]


async def test_a_path_is_a_shortest_chain_of_calls_with_their_places(town: World) -> None:
    answer = await town.call("find_path", source="listed", target="recursive")
    assert answer["found"]
    assert [(each["name"], each.get("at")) for each in answer["steps"]] == [
        ("listed", "lib.py:9"),
        ("helper", "lib.py:13"),
        ("recursive", None),
    ]
    none = await town.call("find_path", source="recursive", target="listed")
    assert (none["found"], none["steps"]) == (False, [])


async def test_an_outline_has_the_most_used_first_and_fits(town: World) -> None:
    answer = await town.call("get_code_map")
    (first, *_) = answer["files"]
    assert first["file"] == "lib.py"
    used = [each["usedBy"] for each in first["entities"]]
    assert used == sorted(used, reverse=True)
    assert {each["name"] for each in first["entities"]} >= {"helper", "called"}
    assert (await town.call("get_code_map", path="nowhere"))["files"] == []
