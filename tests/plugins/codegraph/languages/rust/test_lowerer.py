"""What a Rust file is said to define."""

from __future__ import annotations

from plugins.codegraph.facts import Call, Definition, FileFacts, Many
from plugins.codegraph.languages.rust import LANGUAGES
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import link_tree

SOURCE = """
//! A crate.

pub mod shapes;
#[path = "other.rs"] mod elsewhere;
use crate::a::{self, B as C, d::*};
pub use super::x;

impl Pen { pub fn early(&self) {} }

/// A pen.
#[derive(Clone, Default)]
pub struct Pen { pub ink: Ink, width: u8 }

enum Color { Red, Mixed(u8, Pen), Named { name: String } }

pub trait Draws: Sized + Named {
    const SIZE: u32;
    fn draw(&self, at: u8) -> bool;
    fn twice(&self) {}
}

impl Draws for Pen { fn draw(&self, at: u8) -> bool { true } }
impl Draws for Far { fn draw(&self, at: u8) -> bool { true } }

mod inner { pub fn deep() {} pub struct S; impl S { fn m(&self) {} } }

#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
    #[tokio::test]
    async fn waits() {}
    fn helper() {}
}
"""


def parsed(source: str = SOURCE) -> FileFacts:
    return LANGUAGES[0].parse("src/lib.rs", source.encode())


def definitions(source: str = SOURCE) -> dict[str, Definition]:
    return {each.qualified: each for each in parsed(source).definitions}


def callees(source: str, files: dict[str, bytes] | None = None) -> set[str]:
    linked = link_tree("r", {"src/lib.rs": source.encode(), **(files or {})})
    names = {each.key: each.qualified for each in linked.entities}
    return {names[each.target] for each in linked.edges if each.kind is EdgeKind.CALLS}


def test_items_and_methods_are_definitions() -> None:
    kinds = {name: each.kind.value for name, each in definitions().items()}
    assert kinds == {
        "Pen": "class",
        "Pen.ink": "variable",
        "Pen.width": "variable",
        "Pen.early": "method",
        "Pen.draw": "method",
        "Color": "class",
        "Color.Red": "variable",
        "Color.Mixed": "variable",
        "Color.Named": "variable",
        "Draws": "interface",
        "Draws.SIZE": "variable",
        "Draws.draw": "method",
        "Draws.twice": "method",
        "Far.draw": "method",
        "inner.deep": "function",
        "inner.S": "class",
        "inner.S.m": "method",
        "tests.works": "function",
        "tests.waits": "function",
        "tests.helper": "function",
    }


def test_documentation_visibility_and_signatures_are_kept() -> None:
    found = definitions()
    assert found["Pen"].doc == "A pen."
    assert parsed().doc == "A crate."
    assert found["Pen.ink"].exported
    assert not found["Pen.width"].exported
    assert found["Pen.draw"].signature == "(&self, at: u8) -> bool"


def test_tests_have_the_attribute() -> None:
    found = {name for name, each in definitions().items() if each.test}
    assert found == {"tests.works", "tests.waits"}


def test_use_trees_are_imports_one_by_one() -> None:
    imports = [(e.alias, e.module, e.symbol, e.exported) for e in parsed().scopes[0].imports]
    assert imports == [
        ("shapes", "self::shapes", "", ""),
        ("elsewhere", "path:other.rs", "", ""),
        ("a", "crate", "a", ""),
        ("C", "crate::a", "B", ""),
        ("", "crate::a::d", "*", ""),
        ("x", "super", "x", "x"),
    ]


def test_calls_in_the_arguments_of_macros_count_with_their_line() -> None:
    facts = parsed('fn f() {\n    println!(\n        "{}",\n        g(h()),\n    );\n}\n')
    (many,) = facts.scopes[1].calls
    assert isinstance(many, Many)
    (call,) = many.items
    assert isinstance(call, Call)
    assert call.line == 4


def test_macros_that_quote_code_call_nothing() -> None:
    source = "fn g() {} fn f() { let x = quote! { g() }; stringify!(g()); }"
    assert callees(source) == set()


def test_a_field_and_a_method_of_one_name_are_two_things() -> None:
    source = """
        struct A { name: B }
        struct B;
        impl B { fn go(&self) {} }
        impl A { fn name(&self) -> &B { self.name.go(); &self.name } }
        fn f(a: A) { a.name().go(); }
    """
    assert callees(source) == {"A.name", "B.go"}


def test_a_name_that_is_bound_again_is_another_local() -> None:
    source = """
        struct A; struct B;
        impl A { fn open(self) -> Option<B> { None } fn go(&self) {} }
        impl B { fn go(&self) {} }
        fn f(x: A) { let x = x.open(); let x = x.unwrap(); x.go(); }
    """
    assert callees(source) == {"A.open", "B.go"}
