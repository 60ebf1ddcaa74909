"""What a TypeScript or JavaScript file is said to define."""

from __future__ import annotations

from plugins.codegraph.facts import Definition, FileFacts
from plugins.codegraph.languages.typescript import LANGUAGES
from plugins.codegraph.model import EntityKind


def parsed(source: str, path: str = "a.ts") -> FileFacts:
    suffix = path[path.rfind(".") :]
    language = next(each for each in LANGUAGES if suffix in each.suffixes)
    return language.parse(path, source.encode())


def definitions(source: str, path: str = "a.ts") -> dict[str, Definition]:
    return {each.qualified: each for each in parsed(source, path).definitions}


def test_functions_classes_and_their_members_are_definitions() -> None:
    found = definitions(
        """
        export function plain(a: string): void {}
        export const arrow = async (a: number) => a;
        export class Box<T> extends Base {
          size = 1;
          #secret = 2;
          constructor(private store: Store) { super(); }
          get label() { return ''; }
          static make() {}
          handle = () => {};
        }
        interface Shape { area(): number; name: string; done: () => void }
        type Options = { a: string };
        type Id = string;
        enum Color { Red, Green = 2 }
        namespace Tools { export function cut() {} }
        """
    )
    kinds = {name: each.kind.value for name, each in found.items()}
    assert kinds == {
        "plain": "function",
        "arrow": "function",
        "Box": "class",
        "Box.size": "variable",
        "Box.#secret": "variable",
        "Box.constructor": "method",
        "Box.store": "variable",
        "Box.label": "method",
        "Box.make": "method",
        "Box.handle": "method",
        "Shape": "interface",
        "Shape.area": "method",
        "Shape.name": "variable",
        "Shape.done": "method",
        "Options": "interface",
        "Options.a": "variable",
        "Id": "variable",
        "Color": "class",
        "Color.Red": "variable",
        "Color.Green": "variable",
        "Tools": "class",
        "Tools.cut": "function",
    }


def test_a_signature_is_one_line_as_it_is_written() -> None:
    found = definitions(
        "function pick<T>(\n  of: T[],\n  at = 0,\n): T | undefined { return of[at]; }"
    )
    assert found["pick"].signature == "<T>( of: T[], at = 0, ): T | undefined"


def test_a_doc_comment_is_the_doc_of_what_follows_it() -> None:
    found = definitions(
        "/**\n * Says hello.\n * @returns nothing\n */\nexport function hello() {}\n"
    )
    assert found["hello"].doc == "Says hello.\n@returns nothing"
    assert definitions("// no doc\nfunction plain() {}")["plain"].doc == ""


def test_the_text_of_a_definition_begins_with_its_comment_and_decorators() -> None:
    source = (
        "import './x';\n/** Doc. */\n@Injectable()\nexport class A {\n  @Get()\n  go() {}\n}\n"
        "export const f = () => 1;\n"
    )
    found = {name: source[each.start : each.end] for name, each in definitions(source).items()}
    assert found["A"].startswith("/** Doc. */\n@Injectable()\nexport class A")
    assert found["A.go"] == "@Get()\n  go() {}"
    assert found["f"] == "export const f = () => 1;"


def test_overloads_are_one_function() -> None:
    found = parsed(
        "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) {}"
    )
    assert [(each.name, each.line) for each in found.definitions] == [("f", 3)]
    declared = parsed(
        "export function g(a: string): A;\nexport function g(a: number): B;", "x.d.ts"
    )
    assert [each.name for each in declared.definitions] == ["g"]


def test_exported_is_what_other_files_can_use() -> None:
    found = definitions(
        "export class A { a() {} private b() {} }\nfunction inner() {}\nfunction shown() {}\n"
        "export { shown as other };\nexport default inner;"
    )
    assert {name: each.exported for name, each in found.items()} == {
        "A": True,
        "A.a": True,
        "A.b": False,
        "inner": True,
        "shown": True,
    }
    hidden = definitions("import './x';\nfunction mine() {}")
    assert not hidden["mine"].exported


def test_a_script_without_imports_and_exports_has_global_names() -> None:
    assert definitions("function everywhere() {}", "a.js")["everywhere"].exported


def test_commonjs_exports_are_exports() -> None:
    found = definitions(
        "function a() {}\nfunction b() {}\nmodule.exports = { a };\nexports.c = function () {};",
        "a.js",
    )
    assert {name: each.exported for name, each in found.items()} == {
        "a": True,
        "b": False,
        "c": True,
    }


def test_prototype_methods_belong_to_their_function() -> None:
    found = parsed("Foo.prototype.go = function (a) {};\nfunction Foo() {}", "a.js").definitions
    names = {each.qualified: each for each in found}
    assert names["Foo"].kind is EntityKind.FUNCTION
    assert names["Foo.go"].kind is EntityKind.METHOD
    assert names["Foo.go"].signature == "(a)"


def test_methods_of_a_named_object_are_definitions_within_it() -> None:
    found = definitions("export const api = { get() {}, nested: { post: () => {} }, size: 1 };")
    assert list(found) == ["api", "api.get", "api.nested.post"]


def test_tests_have_their_titles_and_groups_as_names() -> None:
    found = definitions(
        "import { it } from 'vitest';\ndescribe('cart', () => { it('adds  one', () => {}); "
        "test.each([1])('sums %i', (n) => {}); });\nfunction helper() {}",
        "cart.test.ts",
    )
    assert {name: each.test for name, each in found.items()} == {
        "cart > adds one": True,
        "cart > sums %i": True,
        "helper": False,
    }


def test_a_file_without_tests_may_call_something_it() -> None:
    assert not definitions("it('x', () => {});", "src/a.ts")


def test_syntax_errors_are_told_and_the_rest_is_kept() -> None:
    found = parsed("export function good() {}\nfunction ( {{{\nexport const also = () => 1;\n")
    assert found.problem.startswith("1 syntax error, the first in line ")
    assert "good" in {each.name for each in found.definitions}


def test_byte_order_marks_hashbangs_and_carriage_returns_do_not_matter() -> None:
    found = parsed("\ufeff#!/usr/bin/env node\r\nfunction f() {\r\n}\r\n", "a.js")
    assert [(each.name, each.line, each.end_line) for each in found.definitions] == [("f", 2, 3)]


def test_a_minified_bundle_is_marked_and_left_out() -> None:
    found = parsed("!function(e,t){var n=e(t(1)),r=t.f(n);}" * 400, "bundle.js")
    assert found.generated
    assert found.problem.startswith("minified")
    assert not found.definitions


def test_a_file_that_a_program_wrote_is_marked() -> None:
    assert parsed("// Code generated by a tool. DO NOT EDIT.\nexport const a = 1;").generated


def test_variance_of_type_parameters_is_no_syntax_error() -> None:
    assert not parsed("interface Box<out T, in U = never> { get(): T }").problem


def test_the_languages_share_the_grammar_but_not_the_name() -> None:
    assert parsed("const a = <div />;", "a.jsx").language == "javascript"
    assert parsed("const a = <T,>(b: T) => b;", "a.tsx").language == "typescript"
