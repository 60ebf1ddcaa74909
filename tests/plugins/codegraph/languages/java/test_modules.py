"""The modules of a Java build, and which class a name means."""

from __future__ import annotations

from plugins.codegraph.languages.base import Package
from plugins.codegraph.languages.java import LANGUAGES
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree


def packages(files: dict[str, str]) -> set[Package]:
    manifests = {path: text.encode() for path, text in files.items()}
    return set(LANGUAGES[0].packages(InMemoryView("r", {}, manifests)))


def callees(files: dict[str, str]) -> set[str]:
    linked = link_tree("r", {path: text.encode() for path, text in files.items()})
    names = {each.key: f"{each.path}:{each.qualified}" for each in linked.entities}
    return {names[each.target] for each in linked.edges if each.kind is EdgeKind.CALLS}


def test_modules_of_maven_are_packages() -> None:
    files = {
        "pom.xml": (
            "<project><artifactId>all</artifactId><modules><module>a</module></modules></project>"
        ),
        "a/pom.xml": (
            "<project><parent><artifactId>all</artifactId></parent>"
            "<!-- <artifactId>no</artifactId> -->"
            "<dependencies><dependency><artifactId>x</artifactId></dependency></dependencies>"
            "<artifactId>part-a</artifactId></project>"
        ),
    }
    assert packages(files) == {
        Package("all", "", "maven", "maven"),
        Package("part-a", "a", "maven", "maven"),
    }


def test_modules_of_gradle_are_packages() -> None:
    files = {
        "settings.gradle": "rootProject.name = 'all'\ninclude 'a', 'b'\n",
        "a/build.gradle": "plugins {}\n",
        "b/build.gradle.kts": "plugins {}\n",
    }
    assert packages(files) == {
        Package("all", "", "maven", "gradle"),
        Package("a", "a", "maven", "gradle"),
        Package("b", "b", "maven", "gradle"),
    }


def test_the_class_of_the_own_package_is_meant_before_an_imported_star() -> None:
    files = {
        "a/Use.java": "package a;\nimport b.*;\nclass Use { void f() { Thing.go(); Other.go(); } }",
        "a/Thing.java": "package a;\nclass Thing { static void go() {} }",
        "b/Thing.java": "package b;\npublic class Thing { public static void go() {} }",
        "b/Other.java": "package b;\npublic class Other { public static void go() {} }",
    }
    assert callees(files) == {"a/Thing.java:Thing.go", "b/Other.java:Other.go"}


def test_of_two_classes_of_one_name_the_nearer_one_is_meant() -> None:
    files = {
        "one/src/p/A.java": "package p;\nclass A { static void go() {} }",
        "two/src/p/A.java": "package p;\nclass A { static void go() {} }",
        "two/src/p/B.java": "package p;\nclass B { void f() { A.go(); } }",
    }
    assert callees(files) == {"two/src/p/A.java:A.go"}


def test_what_comes_from_outside_is_neither_an_edge_nor_open() -> None:
    source = """package p;
    import java.util.*;
    import org.other.Client;
    class A {
        Client client;
        void f(List<String> xs) { client.send(); xs.clear(); String.valueOf(1); Objects.hash(1); }
    }"""
    linked = link_tree("r", {"A.java": source.encode()})
    assert not [each for each in linked.edges if each.kind is EdgeKind.CALLS]
    assert not linked.unresolved


def test_what_nobody_knows_is_open() -> None:
    source = "class A { void f(Object o) { Missing.go(); absent(); } }"
    linked = link_tree("r", {"A.java": source.encode()})
    assert {each.name for each in linked.unresolved} == {"go", "absent"}
