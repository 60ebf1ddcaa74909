"""What a JavaScript program calls through a member or a variable that it writes anew."""

from __future__ import annotations

import pytest

from tests.plugins.codegraph.linker.linked import calls, unresolved

FUNCTIONS = "function a() {}\nfunction b() {}\nfunction c() {}\n"


def called(text: str) -> set[str]:
    """Which of ``a``, ``b`` and ``c`` a function ``f`` calls, or the file where there is none."""
    found = calls({"m.js": FUNCTIONS + text})
    by = ("f", "f.g") if "f(" in text else ("file",)
    pairs = (each.split(" -> ") for each in found)
    return {callee for caller, callee in pairs if caller in by} & set("abc")


@pytest.mark.parametrize(
    "text",
    [
        "function f() { const d = {x: a}; d.x = b; d.x(); }",
        "function f() { const d = {x: a}; d['x'] = b; d.x(); }",
        "function f() { const d = {}; d.x = a; d.x = b; d['x'](); }",
        "function f() { const d = {x() {}}; d.x = b; d.x(); }",
        "function f() { const d = {x: a}; d.x = b; d.y = c; return d.x(); }",
        "function f(q) { const d = {x: a}; if (q) { d.x = b; d.x(); } }",
        "function f(q) { const d = {x: a}; for (const i of q) { d.x = b; d.x(); } }",
        "function f(d) { d.x = a; d.x = b; d.x(); }",
        "const d = {x: a}; d.x = b; d.x();",
    ],
)
def test_a_member_that_was_just_written_is_what_was_written(text: str) -> None:
    assert called(text) == {"b"}


@pytest.mark.parametrize(
    "text",
    [
        "function f(q) { const d = {x: a}; if (q) { d.x = b; } d.x(); }",
        "function f(q) { const d = {x: a}; if (q) d.x = b; d.x(); }",
        "function f(q) { const d = {x: a}; q && (d.x = b); d.x(); }",
        "function f(q) { const d = {x: b}; d.x = a; if (q) d.x = b; d.x(); }",
        "function f(q) { const d = {x: a}; switch (q) { case 1: d.x = b; break; } d.x(); }",
        "function f(q) { const d = {x: a}; try { q(); d.x = b; } catch (e) {} d.x(); }",
        "function f(q) { const d = {x: a}; for (const i of q) { d.x(); d.x = b; } }",
        "function f(q) { const d = {}; for (d.x = a; d.x(); d.x = b) {} }",
        "function f(q) { const d = {x: a}; while (d.x()) d.x = b; }",
        "const d = {x: a}; function g() { d.x = b; } function f() { g(); d.x(); }",
        "function f() { const d = {}; const g = () => { d.x = b; }; d.x = a; g(); d.x(); }",
        "function f() { const d = {}; const g = () => { d.x = b; }; d.x = a; g() + d.x(); }",
        "function f() { const d = {x: a}; const e = d; e.x = b; d.x(); }",
        "function f() { const d = {}; d.x = a; const g = () => d.x(); d.x = b; g(); }",
        "function g(o) { o.x = b; } function f() { const d = {x: a}; g(d); d.x(); }",
        "function f(d) { d.x(); } function g() { const e = {x: a}; e.x = b; f(e); }",
        "function f(k) { const d = {x: a}; d[k] = b; d.x(); }",
        "function f(d, q) { d.x = a; if (q) d.x = b; d.x(); }",
        "async function f(q) { const d = {}; d.x = a; q(() => { d.x = b; }); await q; d.x(); }",
    ],
)
def test_a_member_is_whatever_may_have_been_written(text: str) -> None:
    assert called(text) == {"a", "b"}


@pytest.mark.parametrize(
    "text",
    [
        "let d = a; d = b; d();",
        "function f() { let d = a; d = b; d(); }",
        "function f() { let d; d = a; d = b; return d(); }",
        "let d = b; d(); d = a;",
        "function f(q) { let d = a; if (q) { d = b; d(); } }",
        "function f(d) { d = a; d = b; d(c); }",
        "function f() { let d = a; { let d = c; } d = b; d(); }",
    ],
)
def test_a_variable_that_was_just_written_is_what_was_written(text: str) -> None:
    assert called(text) == {"b"}


@pytest.mark.parametrize(
    "text",
    [
        "function f(q) { let d = a; if (q) { d = b; } d(); }",
        "function f(q) { let d = a; if (q) d = b; d(); }",
        "function f(q) { let d = a; q && (d = b); d(); }",
        "function f(q) { let d = a; d ||= b; d(); }",
        "function f(q) { let d = a; [d = b] = q; d(); }",
        "function f(q) { let d = a; q ? (d = b) : 0; d(); }",
        "function f(q) { let d = a; switch (q) { case 1: d = b; break; } d(); }",
        "function f(q) { let d = a; try { q(); d = b; } catch (e) {} d(); }",
        "function f(q) { let d = a; for (const i of q) { d(); d = b; } }",
        "function f() { let d = a; while (d()) d = b; }",
        "function f() { for (let d = a; d(); d = b) {} }",
        "function f() { let d = a; do { d(); d = b; } while (1); }",
        "let d = a; function g() { d = b; } function f() { g(); d(); }",
        "function f(q) { let d = a; q(() => { d = b; }); d(); }",
        "async function f(q) { let d = a; q.then(() => { d = b; }); await q; d(); }",
        "let d = a; function f() { d(); } d = b; f();",
    ],
)
def test_a_variable_is_whatever_may_have_been_written(text: str) -> None:
    assert called(text) == {"a", "b"}


@pytest.mark.parametrize(
    "text",
    [
        "const d = {}; Object.assign(d, {x: b}); d.x();",
        "const d = {}; Object.assign(d, {y: a}, {x: b}); d.x();",
        "const d = Object.assign({}, {x: a}, {x: b}); d.x();",
        "const o = {x: b}; const d = {}; Object.assign(d, o); d.x();",
        "class C {} Object.assign(C.prototype, {x: b}); new C().x();",
        "class C { constructor() { Object.assign(this, {x: b}); this.x(); } } function f() {}",
    ],
)
def test_what_object_assign_copies_is_called(text: str) -> None:
    found = calls({"m.js": FUNCTIONS + text})
    assert {each.split(" -> ")[1] for each in found} & set("abc") == {"b"}


def test_what_object_assign_may_leave_is_called_too() -> None:
    text = "function f(o) { const d = Object.assign({}, {x: a}, o); d.x(); }\nf({x: b});"
    assert called(text) == {"a", "b"}
    assert called("const d = {x: a}; Object.assign(d, {x: b}); d.x();") == {"a", "b"}


@pytest.mark.parametrize(
    "text",
    [
        "function f() { const d = {x: a, y: c}; d.x = b; d.y(); }",
        "function f() { const d = {y: c}, e = {x: a}; e.x = b; d.y(); }",
        "function f() { const d = {}, e = {}; d.x = c; e.x = b; e.x; d.x(); }",
    ],
)
def test_a_write_leaves_other_members_and_objects_alone(text: str) -> None:
    assert called(text) == {"c"}


def test_a_member_written_with_an_unknown_value_stays_open_by_its_name() -> None:
    assert unresolved({"m.js": "function f(v) { const d = {}; d.x = v; d.x(); }"}) == {"x"}


def test_methods_of_an_array_with_a_written_element_are_no_element() -> None:
    text = "function f(k) { const d = []; d[k] = a; d.forEach((x) => x); d[0](); }"
    assert called(text) == {"a"}


def test_a_member_may_be_written_with_what_it_was() -> None:
    assert called("function f() { const d = {x: a}; d.x = d.x.bind(d); d.x(); }") == {"a"}


WRAPPED = """
function f(o) {
  const old = o.x;
  o.x = g;
  function g() { old(); }
}
f({x: a});
"""


def test_what_was_kept_before_it_was_written_anew_is_the_old_value() -> None:
    assert calls({"m.js": FUNCTIONS + WRAPPED}) == {"file -> f", "f.g -> a"}


def test_what_is_kept_in_a_loop_may_be_what_an_earlier_round_wrote() -> None:
    text = """
    function f(q) {
      const d = {x: a};
      for (const each of q) {
        const old = d.x;
        d.x = b;
        old();
      }
    }
    """
    assert called(text) == {"a", "b"}


def test_what_stands_before_a_write_to_a_local_object_does_not_see_it() -> None:
    text = """
    function f() {
      const d = {x: a};
      c(d.x(), d);
      d.x = b;
    }
    """
    assert called(text) == {"a", "c"}


def test_a_function_replaces_a_member_of_a_global_for_itself_alone() -> None:
    text = """
    function g() { Date.now = a; Date.now(); each(() => Date.now()); }
    function f() { Date.now(); }
    """
    found = calls({"m.js": FUNCTIONS + text})
    assert found == {"g -> a"}
    everywhere = FUNCTIONS + "Date.now = a; function f() { Date.now(); }"
    assert calls({"m.js": everywhere}) == {"f -> a"}
