"""What a Python file's facts say of its definitions, and that nothing in a file stops them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.codegraph.facts import FileFacts, decoded, encoded
from plugins.codegraph.languages.python import LANGUAGES
from plugins.codegraph.model import EntityKind
from tests.examples import examples


def _read(text: str | bytes, path: str = "m.py") -> FileFacts:
    return LANGUAGES[0].parse(path, text.encode() if isinstance(text, str) else text)


def test_definitions_are_named_within_the_file() -> None:
    facts = _read(
        '''
class A:
    """Doc of A."""
    size: int = 0
    def __init__(self):
        self.field = 1
    async def m(self, a: int, *, b="x") -> "A":
        """First line.

            Indented.
        Last line.
        """
        def inner(): ...
LIMIT = 3
'''
    )
    found = [(each.kind, each.qualified) for each in facts.definitions]

    assert found == [
        (EntityKind.CLASS, "A"),
        (EntityKind.VARIABLE, "A.size"),
        (EntityKind.METHOD, "A.__init__"),
        (EntityKind.VARIABLE, "A.field"),
        (EntityKind.METHOD, "A.m"),
        (EntityKind.FUNCTION, "A.m.inner"),
        (EntityKind.VARIABLE, "LIMIT"),
    ]
    method = facts.definitions[4]
    assert method.signature == '(self, a: int, *, b="x") -> "A"'
    assert method.doc == "First line.\n\n    Indented.\nLast line."
    assert facts.definitions[0].doc == "Doc of A."


def test_a_definition_s_text_has_its_decorators_and_its_line_has_not() -> None:
    source = b"import x\n@x.y\ndef f():\n    pass\n"
    (definition,) = _read(source).definitions

    assert (definition.line, definition.end_line) == (3, 4)
    assert source[definition.start : definition.end] == b"@x.y\ndef f():\n    pass"


def test_private_names_are_not_exported_and_tests_are_known() -> None:
    facts = _read("def _f(): ...\ndef __g__(): ...\ndef test_h(): ...\n", "test_m.py")

    assert [(each.exported, each.test) for each in facts.definitions] == [
        (False, False),
        (True, False),
        (True, True),
    ]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (b"def f(:\n    pass\n", "syntax error"),
        (b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000 + b"\n", "nested deeper"),
        (b"x = " + b"[" * 5_000 + b"]" * 5_000 + b"\n", "nested deeper"),
        (b"x = a" + b".b()" * 5_000 + b"\n", "nested deeper"),
        (b"x = " + b"lambda: " * 5_000 + b"1\n", "nested deeper"),
        (b"".join(b" " * n + b"if a:\n" for n in range(1_000)) + b" " * 1_000 + b"f()\n", "nested"),
        (b"x = " + b" and ".join([b"f()"] * 5_000) + b"\n", ""),
        (b"x = " + b" + ".join([b"f()"] * 5_000) + b"\n", ""),
        (b"x: " + b"list[" * 3_000 + b"int" + b"]" * 3_000 + b"\n", ""),
        (b"s = '\xff\xfe'\n", ""),
        (b"", ""),
    ],
)
def test_nothing_in_a_file_stops_it(source: bytes, problem: str) -> None:
    facts = _read(source)

    assert problem in facts.problem
    assert decoded(encoded(facts)) == facts


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300))
def test_any_bytes_are_read(source: bytes) -> None:
    assert decoded(encoded(_read(source))).language == "python"


_PIECES = st.sampled_from(
    ["def f(a, *b, **c):\n", "class A(B):\n", "if x:\n", "else:\n", "    ", "return x\n", "(", ")",
     "[i for i in x if i]", "lambda q: q", "x = y\n", "@d\n", "try:\n", "except E as e:\n", "\n",
     "match x:\n", "case A(b=c):\n", "async with a as b:\n", "yield x\n", "f'{x!r}'", ":=", "**"]
)  # fmt: skip


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_PIECES, max_size=30))
def test_broken_programs_are_read_and_read_alike(pieces: list[str]) -> None:
    source = "".join(pieces)

    assert _read(source) == _read(source)
