"""What the linker takes for a call of what, and what it leaves open."""

from __future__ import annotations

from textwrap import dedent

import pytest

from plugins.codegraph.linker.linker import Linker
from plugins.codegraph.model import EdgeKind, Strategy
from tests.plugins.codegraph.accuracy.harness import found_edges
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree, parse_tree
from tests.plugins.codegraph.linker.linked import calls, linked, python, unresolved


def test_a_name_that_nothing_binds_stays_open() -> None:
    files = {"a.py": "def f():\n    take(1)\n", "b.py": "def take(x): ...\n"}

    assert calls(files) == set()
    assert unresolved(files) == {"take"}


def test_a_member_of_something_unknown_stays_open() -> None:
    files = {"a.py": "def f(x):\n    x.take()\n", "b.py": "class A:\n    def take(self): ...\n"}

    assert calls(files) == set()
    assert unresolved(files) == {"take"}


def test_a_call_out_of_the_repository_is_neither_an_edge_nor_open() -> None:
    files = {"a.py": "import json\ndef dumps(x): ...\ndef f():\n    json.dumps(print(1))\n"}

    assert calls(files) == set()
    assert unresolved(files) == set()


def test_no_edge_crosses_languages() -> None:
    files = {"a.py": "import b\ndef f():\n    b.g()\n    g()\n", "b.ts": "export function g() {}\n"}

    assert calls(files) == set()


def test_a_call_of_a_class_is_one_of_its_constructor() -> None:
    assert python(
        """
        class Base:
            def __init__(self): ...
        class A(Base): ...
        class Plain: ...
        def f():
            A()
            Plain()
        """
    ) == {"f -> Base.__init__", "f -> Plain"}


def test_a_call_through_an_abstract_type_goes_to_what_it_declares() -> None:
    assert python(
        """
        class Shape:
            def area(self): ...
        class Square(Shape):
            def area(self): ...
        def f(shape: Shape):
            shape.area()
        """
    ) == {"f -> Shape.area"}


def test_an_annotation_may_be_a_string_a_union_or_optional() -> None:
    assert python(
        """
        from typing import Optional, Union
        class A:
            def m(self): ...
        class B:
            def m(self): ...
        def f(a: "A | None"): a.m()
        def g(a: Optional[A]): a.m()
        def h(a: Union[A, "B"]): a.m()
        """
    ) == {"f -> A.m", "g -> A.m", "h -> A.m", "h -> B.m"}


def test_a_name_that_gets_another_value_is_the_last_one() -> None:
    assert python(
        """
        class A:
            def m(self): ...
        class B:
            def m(self): ...
        def f():
            x = A()
            x = B()
            x.m()
        """
    ) == {"f -> A", "f -> B", "f -> B.m"}


def test_a_tested_type_holds_where_the_test_does() -> None:
    assert python(
        """
        class A:
            def m(self): ...
        class B:
            def m(self): ...
        def f(x):
            if isinstance(x, A):
                x.m()
            elif isinstance(x, B):
                x.m()
            else:
                x.other()
        def g(x):
            if not isinstance(x, A):
                return
            x.m()
        """
    ) == {"f -> A.m", "f -> B.m", "g -> A.m"}


def test_a_function_reaches_the_one_that_calls_it() -> None:
    assert python(
        """
        def apply(func): return func()
        def leaf(): ...
        def f(): apply(leaf)
        """
    ) == {"f -> apply", "apply -> leaf"}


def test_too_many_values_are_none() -> None:
    functions = "\n".join(f"def f{n}(): ..." for n in range(40))
    table = ", ".join(f"f{n}" for n in range(40))

    assert python(f"{functions}\nfor f in [{table}]:\n    f()\n") == set()


def test_each_edge_says_how_it_was_found() -> None:
    text = """
    from lib import helper
    class A:
        def m(self): self.n()
        def n(self): ...
    def f(a: A):
        helper()
        a.m()
        A().n()
        f(a)
    """
    found = linked({"m.py": text, "lib.py": "def helper(): ...\n"})
    names = {entity.key: entity.qualified for entity in found.entities}
    how = {
        (names[edge.source], names[edge.target]): edge.strategy
        for edge in found.edges
        if edge.kind is EdgeKind.CALLS
    }

    assert how == {
        ("A.m", "A.n"): Strategy.SELF,
        ("f", "helper"): Strategy.IMPORT,
        ("f", "A.m"): Strategy.DECLARED,
        ("f", "A"): Strategy.SCOPE,
        ("f", "A.n"): Strategy.INFERRED,
        ("f", "f"): Strategy.SCOPE,
    }


def test_an_edge_counts_its_sites_and_names_the_first_line() -> None:
    found = linked({"m.py": "def g(): ...\ndef f():\n    g()\n    g()\n"})
    (edge,) = [edge for edge in found.edges if edge.kind is EdgeKind.CALLS]

    assert (edge.line, edge.sites) == (3, 2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "m.py",
            """
            class A:
                @property
                def url(self): return 1
                def read(self): return self.url
            def f(a: A):
                g = len(
                    a
                    .url
                )
                return g, a.url
            def h(a: A):
                print(1)
                return a.url
            """,
        ),
        (
            "m.ts",
            """
            class A {
              get url() { return 1; }
              read() { return this.url; }
            }
            function f(a: A) {
              const g = String(
                a
                  .url
              ); return g + a.url;
            }
            function h(a: A) {
              console.log(1);
              return a.url;
            }
            """,
        ),
    ],
)
def test_reading_a_property_is_a_call_where_its_name_stands(name: str, text: str) -> None:
    found = linked({name: text})
    names = {each.key: each.qualified for each in found.entities}
    lines = dedent(text).splitlines()
    reads = [each for each in found.edges if names[each.target] == "A.url"]
    reads = [each for each in reads if each.kind is EdgeKind.CALLS]
    shown = {names[each.source]: lines[each.line - 1].strip() for each in reads}
    assert {who: "url" in line for who, line in shown.items()} == {
        "A.read": True,
        "f": True,
        "h": True,
    }
    assert shown["f"] == ".url"


def test_bases_and_imports_are_edges() -> None:
    found = linked(
        {
            "pkg/__init__.py": "from .base import Base\n",
            "pkg/base.py": "class Base: ...\n",
            "main.py": "from pkg import Base\nclass A(Base): ...\n",
        }
    )

    assert found_edges(found, EdgeKind.EXTENDS) == {"main.py::A -> pkg/base.py::Base"}
    assert found_edges(found, EdgeKind.IMPORTS) == {
        "main.py -> pkg/__init__.py",
        "main.py -> pkg/base.py::Base",
        "pkg/__init__.py -> pkg/base.py",
        "pkg/__init__.py -> pkg/base.py::Base",
    }


def test_functions_of_one_name_are_told_apart() -> None:
    found = linked({"m.py": "if 1:\n    def f(): ...\nelse:\n    def f(): ...\n"})

    assert len({entity.key for entity in found.entities}) == len(found.entities) == 3


@pytest.mark.parametrize(
    "text",
    [
        "class A(B): ...\nclass B(A): ...\nA().m()\n",
        "x = [x]\nx[0]()\n",
        "f = lambda: f\nf()()()\n",
        "def f(x): return f(f)\nf(f)(f)\n",
        "from m import *\nfrom m import a\na()\n",
        "@d\ndef d(x): return d\n",
        "class A(A): ...\nA()\n",
        "".join(f"def f{n}(): return f{n + 1}()\n" for n in range(3_000)) + "f0().m()\n",
        "x0 = 1\n" + "".join(f"x{n + 1} = x{n}\n" for n in range(3_000)) + "x3000()\n",
    ],
    ids=["bases", "list", "lambda", "call", "star", "decorator", "self", "calls", "names"],
)
def test_what_depends_on_itself_ends(text: str) -> None:
    assert link_tree("r", {"m.py": text.encode()}).reports


def test_what_was_looked_at_is_noted() -> None:
    files = {
        "main.py": b"import pkg\npkg.f()\n",
        "pkg/__init__.py": b"from .impl import f\n",
        "pkg/impl.py": b"def f(): ...\n",
        "other.py": b"def f(): ...\n",
    }
    linker = Linker(InMemoryView("r", *parse_tree(files)))
    dependencies = linker.link("main.py").dependencies

    assert {"f:pkg/__init__.py", "f:pkg/impl.py"} <= dependencies
    assert "f:other.py" not in dependencies
    assert linker.link("main.py").dependencies == dependencies


def test_a_file_that_is_not_there_is_noted_for_all_who_import_in_a_circle() -> None:
    # The class wins over the import of itself, unless there is a module of its name.
    pay = b"from . import pay\nclass pay:\n    def take(self): return pay()\n"
    files = {"shop/__init__.py": pay, "shop/cart.py": b"from . import pay\npay().take()\n"}
    view = InMemoryView("r", *parse_tree(files))
    for order in (sorted(files), sorted(files, reverse=True)):
        linker = Linker(view)
        for path in order:
            found = linker.link(path).dependencies
            assert "e:shop/pay.py" in found, (path, order)
            assert found == Linker(view).link(path).dependencies


def test_a_file_that_does_not_exist_is_empty_and_noted() -> None:
    found = Linker(InMemoryView("r", {}, {})).link("gone.py")

    assert (found.edges, found.unresolved) == ([], [])
    assert found.dependencies == {"f:gone.py"}


def test_an_object_that_is_handed_to_a_subclass_stays_what_it_is() -> None:
    found = python(
        """
        class A:
            def make(self):
                return Sub(self)

            def run(self): ...

        class Sub(A):
            def __init__(self, parent):
                self.parent = parent

            def run(self): ...

            def go(self):
                self.parent.run()
        """
    )
    assert "Sub.go -> A.run" in found
    assert "Sub.go -> Sub.run" not in found


def test_a_crate_without_cargo_toml_has_its_nearest_root() -> None:
    files = {"src/lib.rs": "mod a;\npub fn f() {}\n", "src/a.rs": "pub fn g() { crate::f(); }\n"}
    assert "src/a.rs::g -> src/lib.rs::f" in calls(files)


def test_what_a_star_may_leave_out_is_the_submodule_so_called_too() -> None:
    files = {
        "p/__init__.py": "from p.backends import *\n",
        "p/backends.py": "__all__ = []\nbackends = {}\ndef start(): ...\n",
        "use.py": "import p\np.backends.start()\n",
    }
    assert calls(files) == {"use.py -> p/backends.py::start"}
