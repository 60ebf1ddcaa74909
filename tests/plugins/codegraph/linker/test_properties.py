"""Linking is a function of the files: no order, no history, nothing that was not looked at."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.codegraph.linker.digest import interface_digest
from plugins.codegraph.linker.linker import LinkedFile, Linker
from tests.examples import examples
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree, parse_tree
from tests.plugins.codegraph.linker.programs import programs

_SLOW = settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def _view(files: dict[str, bytes]) -> InMemoryView:
    return InMemoryView("r", *parse_tree(files))


def _shown(linked: LinkedFile) -> tuple[list[str], list[str]]:
    return sorted(map(repr, linked.edges)), sorted(map(repr, linked.unresolved))


@_SLOW
@given(programs(), st.permutations(range(4)))
def test_the_order_of_files_does_not_matter(files: dict[str, bytes], order: list[int]) -> None:
    view = _view(files)
    paths = sorted(files)
    shared = Linker(view)
    in_order = {paths[place]: _shown(shared.link(paths[place])) for place in order}

    for path in paths:
        assert in_order[path] == _shown(Linker(view).link(path)), path


@_SLOW
@given(programs())
def test_linking_twice_gives_the_same(files: dict[str, bytes]) -> None:
    first, second = link_tree("r", files), link_tree("r", files)

    assert first.edges == second.edges
    assert first.unresolved == second.unresolved
    assert first.entities == second.entities


@_SLOW
@given(programs(), programs(), st.integers(0, 3))
def test_what_a_file_does_not_depend_on_may_change(
    files: dict[str, bytes], others: dict[str, bytes], changed: int
) -> None:
    path = f"m{changed}.py"
    after = {**files, path: others[path], "m9.py": b"def f_a(): pass\n"}
    before_world, after_world = _view(files), _view(after)

    for each in files:
        linked = Linker(before_world).link(each)
        if each != path and f"f:{path}" not in linked.dependencies:
            assert _shown(linked) == _shown(Linker(after_world).link(each)), each


@_SLOW
@given(programs(), st.integers(0, 3))
def test_lines_and_comments_do_not_change_what_others_see(
    files: dict[str, bytes], changed: int
) -> None:
    path = f"m{changed}.py"
    moved = {**files, path: b"# a comment\n\n" + files[path]}
    before, after = parse_tree(files)[0], parse_tree(moved)[0]

    assert interface_digest(before[path]) == interface_digest(after[path])


@_SLOW
@given(programs(), programs(), st.integers(0, 3))
def test_files_that_look_the_same_to_others_need_no_new_link(
    files: dict[str, bytes], others: dict[str, bytes], changed: int
) -> None:
    path = f"m{changed}.py"
    after = {**files, path: others[path]}
    if interface_digest(parse_tree(files)[0][path]) != interface_digest(parse_tree(after)[0][path]):
        return
    before_world, after_world = _view(files), _view(after)

    for each in files:
        if each != path:
            found = _shown(Linker(before_world).link(each))
            assert found == _shown(Linker(after_world).link(each)), each


@_SLOW
@given(programs(), st.integers(0, 3), st.integers(0, 200))
def test_a_call_more_changes_nothing_for_files_with_the_same_digest(
    files: dict[str, bytes], changed: int, number: int
) -> None:
    path = f"m{changed}.py"
    call = [b"f_a()", b"C(None)", b"m1.f_b(f_c)", b"f_a(f_b)", b"D(f_a).m_a(f_c)"][number % 5]
    after = {**files, path: files[path] + call + b"\n"}
    if interface_digest(parse_tree(files)[0][path]) != interface_digest(parse_tree(after)[0][path]):
        return

    for each in files:
        if each != path:
            found = _shown(Linker(_view(files)).link(each))
            assert found == _shown(Linker(_view(after)).link(each)), each
