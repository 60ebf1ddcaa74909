"""No input makes the reader fail: what cannot be read is told, the rest is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.facts import decoded, encoded
from plugins.codegraph.languages.typescript.reader import read

DEEP = {
    "parentheses": ("x = ", "(\n", "f()", ")"),
    "arrays": ("x = ", "[\n", "f()", "]"),
    "objects": ("x = ", "{a:\n", "f()", "}"),
    "blocks": ("", "{\n", "f()", "}"),
    "conditions": ("", "if (a)\n", "f()", ""),
    "alternatives": ("if (a) b();", "else if (c) d()\n;", "", ""),
    "functions": ("", "function f() {\n", "g()", "}"),
    "arrow functions": ("x = ", "() =>\n", "f()", ""),
    "calls": ("x = ", "f(\n", "1", ")"),
    "chains": ("x", ".f()\n", "", ""),
    "sums": ("x = ", "f() +\n", "1", ""),
    "choices": ("x = ", "a ? b() :\n", "1", ""),
    "generic types": ("type X = ", "A<\n", "B", ">"),
    "object types": ("type X = ", "{a:\n", "B", "}"),
    "unions": ("type X = ", "A |\n", "B", ""),
    "classes": ("", "class A { m() { return \n", "", "}}"),
    "patterns": ("const ", "[\n", "a", "]"),
    "templates": ("", "`${\n", "f()", "}`"),
    "namespaces": ("", "namespace A {\n", "", "}"),
}


@pytest.mark.parametrize("shape", DEEP)
def test_five_thousand_levels_are_read(shape: str) -> None:
    head, opening, middle, closing = DEEP[shape]
    source = head + opening * 5_000 + middle + closing * 5_000
    facts = read("deep.ts", source.encode())
    assert decoded(encoded(facts)) == facts
    assert not facts.generated


def test_calls_deep_inside_count() -> None:
    facts = read("deep.ts", b"function g() {}\nx = " + b"[\n" * 1_000 + b"g()" + b"]" * 1_000)
    assert any("Call(of=Name(id='g')" in repr(scope) for scope in facts.scopes)


def test_fifty_thousand_lines_are_read() -> None:
    line = "export const f{0} = (a: A{0}) => g(a.b, {{ x: [{0}] }});\n"
    facts = read("long.ts", "".join(line.format(n) for n in range(50_000)).encode())
    assert len(facts.definitions) == 50_000
    assert facts.lines == 50_000


def test_bytes_that_are_no_text_are_read_as_far_as_they_go() -> None:
    facts = read("a.ts", b"export function a() {}\n\xff\xfe\x00\nexport function b() {}\n")
    assert {each.name for each in facts.definitions} == {"a", "b"}


WORDS = """
function class const let => ( ) { } [ ] < > ; , . ?. : = async await yield * import export
default from 'x' `a${ } extends implements interface type enum namespace declare new super this
static get set @d # ... case switch for of in if else try catch return 1 a B /** */ // \\n as is
require('./y') module.exports exports.a A.prototype.b = describe('t', it satisfies typeof
keyof abstract readonly <A/> ! && ?? || instanceof
"""
PIECES = st.sampled_from(WORDS.split())


@given(st.lists(PIECES, max_size=60), st.sampled_from(["a.ts", "a.tsx", "a.js", "a.test.ts"]))
def test_any_mixture_of_words_is_read(words: list[str], path: str) -> None:
    source = " ".join(words).replace("\\n", "\n").encode()
    facts = read(path, source)
    assert decoded(encoded(facts)) == facts
    for number, each in enumerate(facts.definitions):
        assert 0 <= each.start <= each.end <= len(source)
        assert each.parent < number
    for number, scope in enumerate(facts.scopes):
        assert scope.parent < number
        assert scope.definition < len(facts.definitions)


@given(st.binary(max_size=200), st.sampled_from(["a.ts", "a.tsx", "a.jsx"]))
def test_any_bytes_are_read(source: bytes, path: str) -> None:
    facts = read(path, source)
    assert decoded(encoded(facts)) == facts
