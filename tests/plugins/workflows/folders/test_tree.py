"""Where a folder may go."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from plugins.workflows import limits
from plugins.workflows.model import Folder, Visibility
from plugins.workflows.store.folder_tree import Tree


def folder(id: str, parent: str | None = None) -> Folder:
    return Folder(
        id=id,
        key=id,
        owner="person:ana",
        name=id.upper(),
        description=None,
        visibility=Visibility.PRIVATE,
        parent=parent,
        position=0,
        version=1,
    )


def chain(length: int, prefix: str = "f") -> list[Folder]:
    ids = [f"{prefix}{n}" for n in range(length)]
    return [folder(id, parent) for id, parent in zip(ids, [None, *ids], strict=False)]


@st.composite
def forests(draw: st.DrawFn) -> dict[str, str | None]:
    """Parents of folders, each of which comes after its parent."""
    parents: dict[str, str | None] = {}
    for number in range(draw(st.integers(1, 25))):
        parents[str(number)] = draw(st.sampled_from([None, *parents]))
    return parents


def ancestors(parents: dict[str, str | None], id: str | None) -> list[str]:
    found = []
    while id is not None:
        assert id not in found
        found.append(id)
        id = parents[id]
    return found


@given(forests(), st.data())
def test_a_folder_may_go_wherever_it_is_not_inside_itself_nor_too_deep(
    parents: dict[str, str | None], data: st.DataObject
) -> None:
    moved = data.draw(st.sampled_from([*parents]))
    target = data.draw(st.sampled_from([None, *parents]))
    assume(max(len(ancestors(parents, each)) for each in parents) <= limits.MAX_FOLDER_DEPTH)
    tree = Tree(folder(id, parent) for id, parent in parents.items())
    after = parents | {moved: target}
    cycle = moved in ancestors(parents, target)
    fits = not cycle and all(
        len(ancestors(after, each)) <= limits.MAX_FOLDER_DEPTH for each in parents
    )
    refused = ""
    try:
        tree.check_move(moved, target)
    except ToolFailed as failed:
        refused = failed.message
    assert bool(refused) == (not fits)
    assert ("inside itself" in refused) == cycle


@given(forests(), st.data())
def test_the_levels_below_a_folder_hold_all_that_is_in_it_once(
    parents: dict[str, str | None], data: st.DataObject
) -> None:
    top = data.draw(st.sampled_from([*parents]))
    levels = Tree(folder(id, parent) for id, parent in parents.items()).levels(top)
    found = [each for level in levels for each in level]
    assert sorted(found) == sorted(each for each in parents if top in ancestors(parents, each))


def test_a_cycle_is_named_from_end_to_end() -> None:
    tree = Tree([folder("over"), folder("a", "over"), folder("b", "a"), folder("c", "b")])
    with pytest.raises(ToolFailed, match="A > B > C > A") as failed:
        tree.check_move("a", "c")
    assert failed.value.code == "bad_input"
    assert "OVER" not in failed.value.message


def test_a_folder_in_itself_is_the_shortest_cycle() -> None:
    with pytest.raises(ToolFailed, match="A > A"):
        Tree([folder("a")]).check_move("a", "a")


def test_the_deepest_level_is_the_limit() -> None:
    tree = Tree(chain(limits.MAX_FOLDER_DEPTH))
    tree.check_room(f"f{limits.MAX_FOLDER_DEPTH - 2}")
    with pytest.raises(ToolFailed, match=f"{limits.MAX_FOLDER_DEPTH} deep"):
        tree.check_room(f"f{limits.MAX_FOLDER_DEPTH - 1}")


def test_what_is_in_a_moved_folder_counts_as_well() -> None:
    tree = Tree([*chain(limits.MAX_FOLDER_DEPTH - 2), *chain(3, "g")])
    last = f"f{limits.MAX_FOLDER_DEPTH - 3}"
    tree.check_move("g1", last)
    with pytest.raises(ToolFailed, match="Choose a folder further up"):
        tree.check_move("g0", last)
