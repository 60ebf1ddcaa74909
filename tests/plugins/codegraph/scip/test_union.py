"""What an index adds to the linker's edges, and how the two are compared."""

from __future__ import annotations

import re

from plugins.codegraph.model import Edge, Strategy
from plugins.codegraph.scip.index import DEFINITION, Document, Occurrence
from plugins.codegraph.scip.union import Union, united
from tests.plugins.codegraph.linker.in_memory import LinkedRepo, link_tree

MARK = re.compile(r"«(=?)([^:»]+):([^»]+)»")


def marked(files: dict[str, str], parents: dict[str, tuple[str, ...]] | None = None) -> Union:
    """Link files whose symbols are marked: «=symbol:name» defines, «symbol:name» refers."""
    plain: dict[str, bytes] = {}
    documents = []
    for path, text in files.items():
        occurrences = []
        lines = []
        for number, line in enumerate(text.split("\n")):
            while found := MARK.search(line):
                start, name = found.start(), found[3]
                roles = DEFINITION if found[1] else 0
                occurrences.append(Occurrence(found[2], number, start, start + len(name), roles))
                line = line[:start] + name + line[found.end() :]
            lines.append(line)
        plain[path] = "\n".join(lines).encode()
        documents.append(Document(path, tuple(occurrences), parents or {}))
    linked: LinkedRepo = link_tree("r", plain)
    global named
    named = {each.key: each.qualified for each in linked.entities}
    return united(linked.entities, linked.edges, documents, plain)


named: dict[int, str] = {}


def shown(edges: list[Edge]) -> list[str]:
    assert all(each.strategy is Strategy.SCIP for each in edges)
    return [f"{each.kind.value} {named[each.source]} {named[each.target]}" for each in edges]


def test_a_call_that_the_linker_does_not_know_is_added() -> None:
    found = marked(
        {
            "a.ts": "class A { «=A#go:go»() {} }\n"
            "function f(thing: any) { thing.«A#go:go»(); thing.«A#go:go»; }\n"
        }
    )
    assert shown(found.edges) == ["calls f A.go"]
    assert (found.agreement.both, found.agreement.differ, found.agreement.missed) == (0, 0, 1)
    assert found.agreement.linked == 0.0


def test_a_call_that_both_know_is_agreed() -> None:
    found = marked({"a.ts": "function «=g:g»() {}\nfunction f() { «g:g»(); }\n"})
    assert found.edges == []
    assert (found.agreement.agreed, found.agreement.linked) == (1.0, 1.0)


def test_another_target_of_the_same_name_is_a_difference() -> None:
    text = "class A { «=A:go»() {} }\nclass B { «=B:go»() {} }\nfunction f(a: A) { a.«B:go»(); }\n"
    found = marked({"a.ts": text})
    assert (found.agreement.differ, found.agreement.agreed) == (1, 0.0)
    assert shown(found.edges) == ["calls f B.go"]


def test_making_an_object_calls_the_constructor_also_an_inherited_one() -> None:
    text = (
        "class «=A:A» { constructor() {} }\nclass «=B:B» extends A {}\nclass «=C:C» {}\n"
        "function f(a: any) { new «A:A»(); new «B:B»(); new «C:C»(); }\n"
    )
    found = marked({"a.ts": text})
    assert found.edges == []
    assert found.agreement.both == 2


def test_what_only_looks_like_a_call_is_none() -> None:
    text = (
        "export interface «=I:I» { «=I.go:go»(): void }\nclass «=A:A» {}\n"
        "const o: I = {\n  «I.go:go»() {},\n};\n"
        "let x: Set<«A:A»>;\nlet y: «A:A»;\n"
        "use({\n  «I.go:go»(a: number): void {\n  },\n});\n"
    )
    assert marked({"a.ts": text}).edges == []


def test_decorators_components_and_templates_are_calls() -> None:
    text = (
        "declare const all: any;\nfunction «=T:T»() {}\nfunction «=C:C»() {}\n"
        "function f() {\n  all.«T:T»`x`;\n  return <all.«C:C» />;\n}\n"
    )
    assert shown(marked({"a.tsx": text}).edges) == ["calls f T", "calls f C"]


def test_bases_are_added_where_the_linker_has_none() -> None:
    text = "class «=A:A» {}\nclass «=B:B» extends (A as any) {}\nclass «=C:C» extends A {}\n"
    found = marked({"a.ts": text}, {"B": ("A",), "C": ("A",)})
    assert [each for each in shown(found.edges) if "C" not in each] in ([], ["extends B A"])
    assert "extends C A" not in shown(found.edges)


def test_columns_are_units_of_the_index() -> None:
    text = "function «=g:g»() {}\nfunction f(all: any) { '😀é'; all.«g:g»(); }\n"
    plain = MARK.sub(lambda found: found[3], text).encode()
    linked = link_tree("r", {"a.ts": plain})
    line = plain.decode().split("\n")[1]
    for utf8, encoding, unit in ((True, "utf-8", 1), (False, "utf-16-le", 2)):
        start = len(line[: line.index("g();")].encode(encoding)) // unit
        places = (Occurrence("g", 0, 9, 10, DEFINITION), Occurrence("g", 1, start, start + 1))
        found = united(
            linked.entities, linked.edges, [Document("a.ts", places, {}, utf8)], {"a.ts": plain}
        )
        assert len(found.edges) == 1


def test_files_of_the_index_that_are_not_in_the_repository_are_told() -> None:
    linked = link_tree("r", {"a.ts": b""})
    found = united(linked.entities, linked.edges, [Document("gone.ts")], {"a.ts": b""})
    assert found.unknown == ["gone.ts"]
