"""References: no way to name an entity is absent from both the edges and what is unresolved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.codegraph.languages.composed_names import spellings
from plugins.codegraph.model import EdgeKind, EntityKind, Sort
from tests.examples import examples
from tests.plugins.codegraph.linker.in_memory import LinkedRepo
from tests.plugins.codegraph.linker.linked import linked
from tests.plugins.codegraph.linker.ways.program import LANGUAGES, program
from tests.plugins.codegraph.linker.ways.way import Way


def uses(repo: LinkedRepo, name: str) -> set[tuple[str, str, int]]:
    """What is known to use the only entity of a name: the kind or sort, the file and the line."""
    (entity,) = [each for each in repo.entities if each.name == name]
    return {
        (str(each.sort or each.kind), each.path, each.line)
        for each in repo.edges
        if each.target == entity.key and each.kind is not EdgeKind.CONTAINS
    }


def unread(repo: LinkedRepo, name: str) -> set[tuple[str, int]]:
    """The places that are said to have a name without being understood."""
    mentions = {(each.path, each.line) for each in repo.mentions if each.name in spellings(name)}
    return mentions | {(each.path, each.line) for each in repo.unresolved if each.name == name}


@pytest.mark.parametrize(
    "way", [pytest.param(way, id=f"{way.language}-{way.what}") for way in LANGUAGES.ways]
)
def test_each_way_to_name_an_entity_is_a_reference_of_its_sort(way: Way) -> None:
    repo = linked(program(way.language, [way]))
    if way.sort == "unresolved":
        assert unread(repo, way.entity)
    else:
        found = {sort for sort, _, _ in uses(repo, way.entity)}
        assert way.sort in found
        assert not unread(repo, way.entity)


@pytest.mark.parametrize("language", LANGUAGES.names)
@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_no_use_is_absent_from_both_the_edges_and_what_is_unresolved(
    language: str, data: st.DataObject
) -> None:
    ways = [way for way in LANGUAGES.ways if way.language == language]
    used = data.draw(st.lists(st.sampled_from(ways), min_size=1, unique=True))
    repo = linked(program(language, used))
    for entity in {way.entity for way in used}:
        wanted = {way.sort for way in used if way.entity == entity}
        found = {sort for sort, _, _ in uses(repo, entity)}
        assert wanted - {"unresolved"} <= found
        assert bool(unread(repo, entity)) == ("unresolved" in wanted)


@pytest.mark.parametrize("language", LANGUAGES.names)
def test_what_nothing_names_has_no_use_and_is_complete(language: str) -> None:
    repo = linked(program(language, []))
    for entity in {way.entity for way in LANGUAGES.ways if way.language == language}:
        assert {sort for sort, *_ in uses(repo, entity)} <= {"imports"}
        assert not unread(repo, entity)


def test_a_reference_is_attributed_to_the_definition_whose_head_has_it() -> None:
    text = """
        class Kept: ...
        def make(f): return f
        DEFAULT = 1

        @make
        def go(x: Kept = DEFAULT) -> Kept: ...
    """
    repo = linked({"m.py": text})
    (go,) = [each for each in repo.entities if each.name == "go"]
    names = {each.key: each.name for each in repo.entities}
    found = {(names[e.target], e.sort) for e in repo.edges if e.source == go.key}
    assert found == {
        ("make", Sort.DECORATED),
        ("Kept", Sort.TYPE),
        ("DEFAULT", Sort.READ),
    }


def test_construction_leads_to_the_class_that_is_named_also_where_a_base_constructs() -> None:
    files = {"m.py": "class A:\n    def __init__(self): ...\nclass Sub(A): ...\nSub()\n"}
    assert uses(linked(files), "Sub") == {("constructed", "m.py", 4)}


def test_a_type_and_a_value_of_one_name_are_told_apart() -> None:
    files = {
        "lib.ts": "export interface Shape { a: number }\nexport const Shape = make();\n",
        "use.ts": 'import { Shape } from "./lib";\nlet x: Shape;\nregister(Shape);\n',
    }
    repo = linked(files)
    of = {each.key: each.kind for each in repo.entities if each.name == "Shape"}
    found = {(of[e.target], e.line) for e in repo.edges if e.target in of and e.sort}
    assert found == {(EntityKind.INTERFACE, 2), (EntityKind.VARIABLE, 3)}


@pytest.mark.parametrize(
    "files",
    [
        {"a.ts": "class Effect { type = 1; }\n", "b.ts": "if (x.type === 1) {}\n"},
        {"a.ts": "class Effect { type = 1; }\n", "b.ts": "const { type } = x;\n"},
        {"a.ts": "class Box { delete() {} }\n", "b.ts": "run(x.delete);\n"},
        {
            "a.go": "package a\n\ntype T struct { string int }\n",
            "b.go": "package a\n\nvar y = x.string\n",
        },
    ],
)
def test_a_word_of_the_language_can_be_the_name_of_a_member(files: dict[str, str]) -> None:
    repo = linked(files)
    name = next(each.name for each in repo.entities if each.name in ("type", "delete", "string"))
    assert {path for path, _ in unread(repo, name)} >= {sorted(files)[1]}


def test_a_property_is_read_and_assigned_by_calls_alone() -> None:
    text = """
        class Box:
            @property
            def size(self): ...

            @size.setter
            def size(self, value): ...

            @size.deleter
            def size(self): ...

        def go(box: Box):
            box.size = box.size + 1
    """
    repo = linked({"m.py": text})
    keys = {each.key for each in repo.entities if each.name == "size"}
    found = [each for each in repo.edges if each.target in keys]
    assert {each.kind for each in found} == {EdgeKind.CONTAINS, EdgeKind.CALLS}
    assert not unread(repo, "go")


def test_a_call_with_type_arguments_that_is_awaited_is_no_value() -> None:
    text = """
    async function load<T>(from: string): Promise<T> { return fetch(from) as T; }
    export async function main() { return await load<string[]>("a"); }
    """
    repo = linked({"m.ts": text})
    assert {kind for kind, _, _ in uses(repo, "load")} == {"calls"}


@pytest.mark.parametrize("order", ["def first", "value first"])
def test_a_function_that_another_branch_replaces_by_a_value_is_used_where_it_is_passed(
    order: str,
) -> None:
    branches = ["        def target(): ...\n", "        target = None\n"]
    one, other = branches if order == "def first" else reversed(branches)
    text = f"def g(key):\n    if key:\n{one}    else:\n{other}    return property(target)\n"
    assert ("value", "m.py", 6) in uses(linked({"m.py": text}), "target")


def test_a_method_named_like_a_type_is_no_type() -> None:
    text = """
        from __future__ import annotations

        class Kind: ...

        class Headers:
            def __init__(self, given: set[str], kind: Kind): ...
            def set(self, key): ...
            def Kind(self): ...
    """
    repo = linked({"m.py": text})
    (method,) = [each.key for each in repo.entities if each.name == "set"]
    assert {e.kind for e in repo.edges if e.target == method} == {EdgeKind.CONTAINS}
    (kind,) = [each.key for each in repo.entities if each.qualified == "Kind"]
    assert [e.sort for e in repo.edges if e.target == kind and e.sort] == [Sort.TYPE]


@pytest.mark.parametrize(
    "text",
    [
        "def g():\n    target = 1\n    return target\n",
        "def g(target):\n    return [target for _ in target]\n",
        "def g():\n    with open('x') as target:\n        target.read()\n",
        "xs = [target for target in range(3)]\n",
        "g = lambda target: target + 1\n",
        "def g():\n    for target, b in []:\n        def h():\n            return target\n",
    ],
)
def test_a_local_variable_of_the_same_name_is_no_use(text: str) -> None:
    repo = linked({"lib.py": "def target(): ...\n", "use.py": text})
    assert not uses(repo, "target")
    assert not unread(repo, "target")


def test_a_name_is_accounted_for_once_however_often_it_is_read() -> None:
    text = "from lib import target\nregister(target, other.target, target)\n"
    repo = linked({"lib.py": "def target(): ...\n", "use.py": text})
    assert uses(repo, "target") >= {("value", "use.py", 2)}
    assert unread(repo, "target") == {("use.py", 2)}
    (mention,) = [each for each in repo.mentions if each.name == "target"]
    assert mention.sites == 1
