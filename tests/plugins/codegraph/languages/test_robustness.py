"""No file of Go, Java or Rust stops a reader, however broken it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.codegraph.facts import FileFacts, decoded, encoded
from plugins.codegraph.languages.registry import language_of
from tests.examples import examples
from tests.plugins.codegraph.accuracy.harness import CASES
from tests.plugins.codegraph.linker.in_memory import link_tree

SUFFIXES = {"go": ".go", "java": ".java", "rust": ".rs"}
LANGUAGES = sorted(SUFFIXES)
DEEP = 5_000
HEADS = {
    "go": ("package p\nfunc f() { ", " }\n"),
    "java": ("class A { void f() { ", " } }\n"),
    "rust": ("fn f() { ", " }\n"),
}
NESTINGS = {
    "calls": ("g(", ")", ";"),
    "blocks": ("{", "}", ""),
    "parentheses": ("x = (", "1)", ";"),
    "sums": ("y + ", "", "1;"),
    "chains": ("", ".g()", ""),
    "ifs": ("if (a) { ", " }", ""),
    "lambdas": ("run(() -> ", ")", ";"),
    "functions": ("func() { ", " }()", ""),
    "closures": ("h(|x| ", ")", ";"),
    "types": ("let v: Vec<", ">", ";"),
    "generics": ("List<", "> v;", ""),
    "modules": ("mod m { ", " }", ""),
    "classes": ("class B { ", " }", ""),
}


LONG = {
    "go": (
        "func f%d(x *T) int {\n\tfor i := range x.items {\n\t\tg(i)\n\t}\n\treturn x.f()\n}\n",
        "package p\n",
        "",
    ),
    "java": (
        "int f%d(T x) {\n  for (T i : x.items()) {\n   g(i);\n  }\n  return x.f();\n}\n",
        "class A {\n",
        "}\n",
    ),
    "rust": (
        "fn f%d(x: T) -> i32 {\n    for i in x.items() {\n        g(i);\n    }\n    x.f()\n}\n",
        "",
        "",
    ),
}
"""A function of six lines, and what stands around many of them."""


def parsed(language: str, source: bytes) -> FileFacts:
    path = f"a{SUFFIXES[language]}"
    found = language_of(path)
    assert found is not None
    facts = found.parse(path, source)
    assert decoded(encoded(facts)) == facts
    return facts


def sources(language: str) -> list[bytes]:
    return [
        path.read_bytes() for path in sorted(CASES.glob(f"{language}/**/*{SUFFIXES[language]}"))
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("nesting", sorted(NESTINGS))
def test_deep_nesting_is_followed_so_far_and_said(language: str, nesting: str) -> None:
    before, after = HEADS[language]
    opening, closing, end = NESTINGS[nesting]
    source = f"{before}{opening * DEEP}x{closing * DEEP}{end}{after}".encode()
    facts = parsed(language, source)
    assert facts.lines == source.count(b"\n")
    link_tree("deep", {f"a{SUFFIXES[language]}": source})


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_too_deep_is_a_problem_with_its_line(language: str) -> None:
    before, after = HEADS[language]
    facts = parsed(language, f"{before}\n{'g(' * DEEP}x{')' * DEEP};{after}".encode())
    assert "nested deeper than" in facts.problem
    assert any(each.name == "f" for each in facts.definitions)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_stands_beside_a_syntax_error_is_read(language: str) -> None:
    before, after = HEADS[language]
    facts = parsed(language, f"{before}a();{after}\n%%% ((( \n".encode())
    assert "syntax error" in facts.problem
    assert any(each.name == "f" for each in facts.definitions)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_any_bytes_are_read(language: str, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(sources(language)))
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(len(source), start + 200)))
    put = data.draw(
        st.binary(max_size=20) | st.sampled_from([b"{", b")", b"\xff\xfe", b"\0", b'"'])
    )
    parsed(language, source[:start] + put + source[end:])


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=examples(40), deadline=None)
@given(source=st.binary(max_size=300))
def test_noise_is_read(language: str, source: bytes) -> None:
    parsed(language, source)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_of_fifty_thousand_lines_is_read(language: str) -> None:
    function, head, tail = LONG[language]
    body = "".join(function % number for number in range(8_400))
    facts = parsed(language, (head + body + tail).encode())
    assert facts.lines > 50_000
    assert not facts.problem
    assert sum(each.name.startswith("f") for each in facts.definitions) == 8_400


@pytest.mark.parametrize("language", LANGUAGES)
def test_reading_a_file_twice_says_the_same_whatever_its_directory(language: str) -> None:
    found = language_of(f"a{SUFFIXES[language]}")
    assert found is not None
    for source in sources(language):
        one = found.parse(f"a/b{SUFFIXES[language]}", source)
        assert one == found.parse(str(Path("tests") / f"c_test{SUFFIXES[language]}"), source)
