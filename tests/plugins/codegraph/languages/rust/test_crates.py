"""Which crate and which file a path of Rust means."""

from __future__ import annotations

from plugins.codegraph.languages.base import Package
from plugins.codegraph.languages.rust import LANGUAGES
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree

WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/old"]\n',
    "crates/one/Cargo.toml": (
        '[package]\nname = "one-crate"\n'
        '[dependencies]\ntwo = { path = "../two", package = "second" }\nserde = "1"\n'
    ),
    "crates/two/Cargo.toml": '[package]\nname = "second"\n[lib]\nname = "deux"\npath = "x.rs"\n',
    "crates/old/Cargo.toml": '[package]\nname = "old"\n',
}


def edges(files: dict[str, str], kind: EdgeKind = EdgeKind.CALLS) -> set[str]:
    linked = link_tree("r", {path: text.encode() for path, text in files.items()})
    names = {each.key: f"{each.path}:{each.qualified}" for each in linked.entities}
    return {names[each.target] for each in linked.edges if each.kind is kind}


def test_members_of_a_workspace_are_packages() -> None:
    manifests = {path: text.encode() for path, text in WORKSPACE.items()}
    assert set(LANGUAGES[0].packages(InMemoryView("r", {}, manifests))) == {
        Package("one-crate", "crates/one", "cargo", "cargo"),
        Package("second", "crates/two", "cargo", "cargo"),
        Package("old", "crates/old", "cargo", ""),
    }


def test_a_renamed_path_dependency_is_the_crate_in_that_directory() -> None:
    files = {
        **WORKSPACE,
        "crates/one/src/lib.rs": "fn f() { two::go(); serde::go(); }\n",
        "crates/two/x.rs": "pub fn go() {}\n",
    }
    assert edges(files) == {"crates/two/x.rs:go"}


def test_a_program_calls_the_library_of_its_own_package_by_name() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "my-app"\n',
        "src/lib.rs": "pub mod tools;\npub fn run() { crate::tools::cut() }\n",
        "src/tools.rs": "pub fn cut() { super::deep::dig() }\n",
        "src/main.rs": "mod own;\nfn main() { my_app::run(); own::x(); crate::own::y() }\n",
        "src/own.rs": "pub fn x() {}\npub fn y() {}\n",
    }
    assert edges(files) == {
        "src/lib.rs:run",
        "src/tools.rs:cut",
        "src/own.rs:x",
        "src/own.rs:y",
    }


def test_modules_are_files_or_directories_or_named_by_a_path() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\n',
        "src/lib.rs": (
            'mod one;\nmod two;\n#[path = "odd/place.rs"]\nmod three;\n'
            "fn f() { one::a(); two::inner::b(); three::c(); }\n"
        ),
        "src/one.rs": "pub fn a() { super::two::inner::b() }\n",
        "src/two/mod.rs": "pub mod inner;\n",
        "src/two/inner.rs": "pub fn b() { super::super::three::c() }\n",
        "src/odd/place.rs": "pub fn c() { crate::one::a() }\n",
    }
    assert edges(files) == {"src/one.rs:a", "src/two/inner.rs:b", "src/odd/place.rs:c"}
    imported = {each.split(":")[0] for each in edges(files, EdgeKind.IMPORTS)}
    assert imported == {"src/one.rs", "src/two/mod.rs", "src/odd/place.rs", "src/two/inner.rs"}


def test_names_pass_through_exports_globs_and_aliases() -> None:
    files = {
        "Cargo.toml": '[package]\nname = "a"\n',
        "src/lib.rs": (
            "mod x;\nmod y;\nuse x::renamed as again;\nfn f() { again(); all(); }\nuse x::*;\n"
        ),
        "src/x.rs": "pub use crate::y::first as renamed;\npub use crate::y::*;\n",
        "src/y.rs": "pub fn first() {}\npub fn all() {}\n",
    }
    assert edges(files) == {"src/y.rs:first", "src/y.rs:all"}


def test_variants_of_an_enum_are_brought_in_but_are_no_functions() -> None:
    files = {
        "src/lib.rs": (
            "enum Shape { Dot(P), Line { at: P } }\nstruct P;\nimpl P { fn go(&self) {} }\n"
            "use Shape::*;\n"
            "fn f(s: Shape) { match s { Dot(p) => p.go(), Line { at } => at.go() } }\n"
            "fn g() -> Shape { Shape::Dot(P) }\n"
        )
    }
    assert edges(files) == {"src/lib.rs:P.go"}


def test_a_call_through_a_bound_is_one_of_the_trait() -> None:
    files = {
        "src/lib.rs": (
            "trait T { fn go(&self); fn make() -> Self; }\nstruct A;\n"
            "impl T for A { fn go(&self) {} fn make() -> A { A } }\n"
            "fn f<X: T>(x: X) { x.go(); X::make(); }\n"
            "fn g(x: &dyn T) { x.go() }\nfn h() { A::make().go() }\n"
        )
    }
    assert edges(files) == {
        "src/lib.rs:T.go",
        "src/lib.rs:T.make",
        "src/lib.rs:A.make",
        "src/lib.rs:A.go",
    }


def test_a_path_begins_with_a_module_even_where_a_local_has_its_name() -> None:
    files = {
        "src/lib.rs": "mod ast;\nfn f(ast: &u8, g: fn()) { ast::visit(ast); g(); }\nfn g() {}\n",
        "src/ast.rs": "pub fn visit(x: &u8) {}\n",
    }
    assert edges(files) == {"src/ast.rs:visit"}
