"""What became of entities: a rename is a rename, and what is told of a change is all of it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.codegraph.changes.compare import ChangeKind, EntityChange, compare
from plugins.codegraph.changes.versions import Version, versions
from tests.examples import examples
from tests.plugins.codegraph.indexer.test_incremental import FILES
from tests.plugins.codegraph.linker.in_memory import link_tree

Files = dict[str, str]
SHOP = '''\
"""The shop."""

import json


class Cart:
    """What somebody wants to buy."""

    def add(self, item, count):
        self.items[item] = self.items.get(item, 0) + count
        return self.items

    def total(self, prices):
        return sum(prices[item] * count for item, count in self.items.items())


def place_order(cart, prices, customer):
    """Order what is in the cart."""
    amount = cart.total(prices)
    if amount > customer.credit:
        raise ValueError(f"{customer.name} cannot pay {amount}")
    return json.dumps({"customer": customer.name, "amount": amount})


def one(): return 1
'''


def state(files: Files) -> list[Version]:
    """The entities of some files."""
    linked = link_tree("shop", {path: text.encode() for path, text in files.items()})
    return [
        each
        for path, text in files.items()
        for each in versions(text, [one for one in linked.entities if one.path == path])
    ]


def changes(before: Files, after: Files) -> list[EntityChange]:
    return compare(state(before), state(after))


def told(before: Files, after: Files) -> list[str]:
    """The changes in words."""
    return [words(each) for each in changes(before, after)]


def words(change: EntityChange) -> str:
    places = [
        f"{each.entity.path}::{each.entity.qualified}"
        if each.entity.path != each.entity.qualified
        else each.entity.path
        for each in (change.before, change.after)
        if each is not None
    ]
    edited = " edited" if change.kind is ChangeKind.RENAMED and change.edited else ""
    return f"{change.kind}{edited} {' -> '.join(dict.fromkeys(places))}"


def test_what_is_the_same_and_what_only_stands_elsewhere_in_its_file_is_no_change() -> None:
    assert told({"a.py": SHOP}, {"a.py": SHOP}) == []
    lower = SHOP.replace("import json\n", "import json\n\n\n\n")
    assert told({"a.py": SHOP}, {"a.py": lower}) == []


def test_another_body_is_an_update_of_that_function_and_not_of_what_contains_it() -> None:
    after = SHOP.replace("prices[item] * count", "prices[item] * count * 2")
    assert told({"a.py": SHOP}, {"a.py": after}) == ["updated a.py::Cart.total"]


def test_another_signature_is_an_update() -> None:
    after = SHOP.replace(
        "def place_order(cart, prices, customer)", "def place_order(cart, customer)"
    )
    assert told({"a.py": SHOP}, {"a.py": after}) == ["updated a.py::place_order"]


def test_a_new_decorator_is_an_update_of_what_it_stands_above() -> None:
    after = SHOP.replace("    def total", "    @cached\n    def total")
    assert told({"a.py": SHOP}, {"a.py": after}) == ["updated a.py::Cart.total"]


def test_another_import_is_an_update_of_the_file_alone() -> None:
    after = SHOP.replace("import json\n", "import json\nimport sys\n")
    assert told({"a.py": SHOP}, {"a.py": after}) == ["updated a.py"]


@pytest.mark.parametrize("name", ["place_order", "one", "total"])
def test_a_function_with_another_name_and_the_same_text_is_renamed(name: str) -> None:
    found = told({"a.py": SHOP}, {"a.py": SHOP.replace(name, "other")})
    place = "Cart." if name == "total" else ""
    callers = ["updated a.py::place_order"] if name == "total" else []
    assert found == [f"renamed a.py::{place}{name} -> a.py::{place}other", *callers]


def test_a_function_that_calls_itself_is_renamed_too() -> None:
    before = "def count(n):\n    return 0 if n == 0 else 1 + count(n - 1)\n"
    after = before.replace("count", "tally")
    assert told({"a.py": before}, {"a.py": after}) == ["renamed a.py::count -> a.py::tally"]


def test_a_renamed_class_takes_its_methods_with_it_edited_or_not() -> None:
    after = SHOP.replace("class Cart", "class Basket").replace("* count", "* 2 * count")
    assert told({"a.py": SHOP}, {"a.py": after}) == [
        "renamed a.py::Cart -> a.py::Basket",
        "renamed a.py::Cart.add -> a.py::Basket.add",
        "renamed edited a.py::Cart.total -> a.py::Basket.total",
    ]


def test_a_file_under_another_path_is_renamed_with_all_that_is_in_it() -> None:
    found = changes({"a.py": SHOP}, {"shop/b.py": SHOP.replace("return 1", "return 2")})
    assert {each.kind for each in found} == {ChangeKind.RENAMED}
    assert [words(each) for each in found if each.edited] == [
        "renamed edited a.py::one -> shop/b.py::one"
    ]


def test_a_function_that_moved_to_a_file_that_was_there_is_renamed() -> None:
    at = SHOP.index("def place_order")
    end = SHOP.index("def one")
    without = SHOP[:at] + SHOP[end:]
    found = told(
        {"a.py": SHOP, "b.py": "import json\n"},
        {"a.py": without, "b.py": "import json\n\n\n" + SHOP[at:end]},
    )
    assert "renamed a.py::place_order -> b.py::place_order" in found
    assert not [each for each in found if each.startswith(("added", "deleted"))]


def test_short_functions_that_are_alike_by_chance_are_not_renamed() -> None:
    before = {"a.py": "def one(): return 1\n", "b.py": "x = 2\n"}
    after = {"a.py": "y = 3\n", "b.py": "x = 2\ndef two(): return 1\n"}
    found = told(before, after)
    assert "deleted a.py::one" in found
    assert "added b.py::two" in found
    several = "def a(): return 1\ndef b(): return 1\n"
    other = "def c(): return 1\ndef d(): return 1\n"
    assert not [each for each in told({"a.py": several}, {"a.py": other}) if "renamed" in each]


@settings(max_examples=examples(60))
@given(before=FILES, after=FILES)
def test_what_is_told_of_two_states_leads_from_one_to_the_other(
    before: Files, after: Files
) -> None:
    old, new = state(before), state(after)
    found = compare(old, new)
    assert applied(old, found) == kept(new)


@settings(max_examples=examples(60))
@given(before=FILES, after=FILES)
def test_no_entity_is_told_of_twice_and_what_is_the_same_not_at_all(
    before: Files, after: Files
) -> None:
    old, new = state(before), state(after)
    found = compare(old, new)
    for side in ("before", "after"):
        there = [getattr(each, side) for each in found if getattr(each, side) is not None]
        assert max(Counter(each.entity.key for each in there).values(), default=1) == 1
    assert compare(new, new) == []
    same = kept(old).items() & kept(new).items()
    assert not {each.before.entity.key for each in found if each.before} & {key for key, _ in same}


@settings(max_examples=examples(40))
@given(files=FILES, path=st.sampled_from(["main.py", "shop/cart.py", "web/app.ts"]))
def test_a_file_that_moved_is_told_as_renames_alone(files: Files, path: str) -> None:
    text = files.get(path, "")
    text = text if text.strip() else "def run(it):\n    return it\n"
    before = {**files, path: text}
    suffix = path.rpartition(".")[2]
    after = {name: each for name, each in before.items() if name != path}
    found = changes(before, {**after, f"moved/here.{suffix}": text})
    assert {each.kind for each in found} <= {ChangeKind.RENAMED}
    assert {each.before.entity.path for each in found if each.before} == {path}
    assert not any(each.edited for each in found)


def kept(found: list[Version]) -> dict[int, bytes]:
    return {each.entity.key: each.own for each in found}


def applied(old: list[Version], found: list[EntityChange]) -> dict[int, bytes]:
    """A state after some changes."""
    there = kept(old)
    for each in found:
        if each.before is not None:
            assert there.pop(each.before.entity.key) == each.before.own
    for each in found:
        if each.after is not None:
            assert each.after.entity.key not in there
            there[each.after.entity.key] = each.after.own
    return there
