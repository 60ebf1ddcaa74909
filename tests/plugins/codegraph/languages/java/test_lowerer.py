"""What a Java file is said to define, and which overload a call means."""

from __future__ import annotations

from plugins.codegraph.facts import Definition, FileFacts
from plugins.codegraph.languages.java import LANGUAGES
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import link_tree

SOURCE = """
package org.example;

import java.util.*;
import static org.example.Util.join;

/**
 * Keeps things.
 */
public class Box<T extends Thing> extends Base implements Closeable, Named<T> {
    private int size, more;
    public Box(int size) { this.size = size; }
    /** How many. */
    public int size() { return size; }
    private void hidden(String... words) {}
    enum Color { RED, GREEN { int f() { return 1; } }; }
    record Point(int x, int y) { Point {} }
    interface Inner { void open(); }
    @Test void works() {}
}
class Old extends TestCase { void testIt() {} void other() {} }
"""


def parsed(source: str = SOURCE) -> FileFacts:
    return LANGUAGES[0].parse("Box.java", source.encode())


def definitions(source: str = SOURCE) -> dict[str, Definition]:
    return {each.qualified: each for each in parsed(source).definitions}


def targets(source: str) -> dict[str, list[int]]:
    """The lines of the functions that each function calls."""
    linked = link_tree("r", {"A.java": source.encode()})
    entities = {each.key: each for each in linked.entities}
    found: dict[str, list[int]] = {}
    for edge in linked.edges:
        if edge.kind is EdgeKind.CALLS:
            line = entities[edge.target].line
            found.setdefault(entities[edge.source].name, []).append(line)
    return {name: sorted(lines) for name, lines in found.items()}


def test_classes_and_their_members_are_definitions() -> None:
    kinds = {name: each.kind.value for name, each in definitions().items()}
    assert kinds == {
        "Box": "class",
        "Box.size": "method",
        "Box.more": "variable",
        "Box.Box": "method",
        "Box.hidden": "method",
        "Box.Color": "class",
        "Box.Color.RED": "variable",
        "Box.Color.GREEN": "variable",
        "Box.Point": "class",
        "Box.Point.x": "variable",
        "Box.Point.y": "variable",
        "Box.Point.Point": "method",
        "Box.Inner": "interface",
        "Box.Inner.open": "method",
        "Box.works": "method",
        "Old": "class",
        "Old.testIt": "method",
        "Old.other": "method",
    }


def test_what_is_private_is_not_exported() -> None:
    found = definitions()
    assert not found["Box.hidden"].exported
    assert found["Box.Inner.open"].exported


def test_javadoc_and_signatures_are_kept() -> None:
    found = definitions()
    assert found["Box"].doc == "Keeps things."
    assert found["Box.size"].doc == "How many."
    assert found["Box.hidden"].signature == "void hidden(String... words)"


def test_tests_are_annotated_or_of_a_test_case() -> None:
    assert {name for name, each in definitions().items() if each.test} == {
        "Box.works",
        "Old.testIt",
    }


def test_imports_of_members_say_so() -> None:
    imports = [(e.alias, e.module, e.symbol) for e in parsed().scopes[0].imports]
    assert imports == [("", "java.util", "*"), ("join", "static:org.example.Util", "join")]


def test_the_number_of_arguments_chooses_an_overload() -> None:
    source = """class A {
        void f() {}
        void f(int a) {}
        void f(int a, Object... b) {}
        void none() { f(); }
        void one() { f(1); }
        void three() { f(1, 2, 3); }
    }"""
    assert targets(source) == {"none": [2], "one": [3], "three": [4]}


def test_the_types_of_arguments_choose_an_overload() -> None:
    source = """class A {
        void f(String a) {}
        void f(int a) {}
        void f(B a) {}
        void f(C a) {}
        void text() { f("x"); }
        void number() { f(1); }
        void object(C c) { f(c); }
        void made() { f(new B()); }
        void boxed(Integer n) { f(n); }
    }
    class B {}
    class C extends B {}"""
    found = targets(source)
    assert found["text"] == [2]
    assert found["number"] == [3]
    assert found["object"] == [5]
    assert found["made"] == [4, 12]
    assert found["boxed"] == [3]


def test_an_overload_of_a_base_class_is_still_there() -> None:
    source = """class A { void f(int a) {}
        void f(String a) {} }
    class B extends A { void f(int a) {}
        void own() { f(1); }
        void inherited() { f("x"); } }"""
    assert targets(source) == {"own": [3], "inherited": [2]}


def test_fields_methods_and_locals_of_one_name_are_three_things() -> None:
    source = """class A {
        B count;
        int count() { return 1; }
        int local() { int count = count(); return count; }
        void field() { count.go(); }
        void other(C count) { count.stop(); }
    }
    class B { void go() {} }
    class C { void stop() {} }"""
    assert targets(source) == {"local": [3], "field": [8], "other": [9]}
