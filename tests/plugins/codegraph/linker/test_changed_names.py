"""Which names of a changed file mean something else, and that nobody but who says them links so."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.codegraph.facts import FileFacts, encoded
from plugins.codegraph.linker.changed_names import changed_names
from plugins.codegraph.linker.linker import LinkedFile, Linker
from tests.examples import examples
from tests.plugins.codegraph.linker.in_memory import InMemoryView, parse_tree

GARDEN = """
    import seeds
    BEDS = []
    def dig(bed):
        return bed
    def plant(bed):
        return dig(bed).depth
    class Bed:
        def water(self, amount):
            return amount
"""


def facts(text: str, path: str = "garden.py") -> FileFacts:
    return parse_tree({path: dedent(text).encode()})[0][path]


def changed(after: str, before: str = GARDEN) -> set[str] | None:
    found = changed_names(facts(before), facts(after))
    return None if found is None else set(found)


def edited(old: str, new: str) -> str:
    assert old in GARDEN
    return GARDEN.replace(old, new)


def test_a_function_that_came_or_went_is_a_name_that_changed() -> None:
    more = edited("BEDS = []", "BEDS = []\n    def rake(): return 1")
    assert changed(more) == {"rake"}
    assert changed(GARDEN, before=more) == {"rake"}


def test_lines_and_the_order_of_other_things_change_no_name() -> None:
    assert changed(f"# A comment.\n{GARDEN}") == set()
    later = edited("def dig", "def rake(): return lambda: 1\n    def dig")
    assert changed(later) == {"rake"}


def test_who_says_a_changed_name_has_changed_too() -> None:
    assert changed(edited("return bed", "return Bed")) == {"dig", "plant"}


def test_who_gets_other_arguments_has_changed_too() -> None:
    more = GARDEN + "    def rake(bed):\n        dig(Bed())\n"
    assert changed(more) == {"rake", "dig", "plant"}


def test_a_container_that_something_is_put_into_has_changed_too() -> None:
    for put in ("BEDS.append(dig)", "BEDS[0] = dig"):
        assert changed(f"{GARDEN}    def rake():\n        {put}\n") == {"rake", "BEDS"}
    local = GARDEN + "    def rake():\n        BEDS = []\n        BEDS.append(dig)\n"
    assert changed(local) == {"rake"}


def test_a_global_that_a_function_sets_has_changed_too() -> None:
    more = GARDEN + "    def rake():\n        global BEDS\n        BEDS = dig\n"
    assert changed(more) == {"rake", "BEDS"}


def test_a_decorator_is_given_what_it_decorates() -> None:
    assert changed(GARDEN + "    @dig\n    def rake(): ...\n") == {"rake", "dig", "plant"}


def test_an_import_and_a_value_are_names_as_well() -> None:
    assert changed(edited("import seeds", "import seeds\n    import soil")) == {"soil"}
    assert changed(edited("BEDS = []", "BEDS = [Bed()]")) == {"BEDS"}


def test_a_method_is_of_its_class() -> None:
    more = edited("return amount", "return amount.litres")
    assert changed(more) == {"Bed"}


@pytest.mark.parametrize(
    "more",
    [
        "dig(BEDS)",
        "from seeds import *",
        "dig.depth = 1",
        "__all__ = ['dig']",
        "(lambda: dig)(BEDS)",
        "first, second = dig, plant",
    ],
)
def test_what_no_name_holds_may_give_any_name_another_meaning(more: str) -> None:
    assert changed(f"{GARDEN}    {more}\n") is None


def test_what_no_name_holds_and_says_a_changed_name_may_too() -> None:
    text = GARDEN + "    dig(BEDS)\n"
    assert changed(text.replace("return bed", "return 1"), before=text) is None


def test_in_other_languages_any_name_may_have_changed() -> None:
    before = facts("export function dig() {}", "garden.ts")
    after = facts("export function dig() {}\nfunction plant() {}", "garden.ts")
    assert changed_names(before, after) is None


NAMES = ("ash", "beech", "cedar", "elm", "fir")
BODIES = (
    "return {one}",
    "return {one}(x)",
    "return Bed(x).held",
    "return BOX[0]",
    "BOX.append({one})",
    "{one}({two})\n    return {two}",
    "global BOX\n    BOX = [{one}]",
    "return x",
    "def inner():\n        return {one}(x)\n    return inner()",
)
some = st.sampled_from(NAMES)


@st.composite
def functions(draw: st.DrawFn, name: str) -> str:
    """A function of the file that is changed."""
    decorator = draw(st.sampled_from(["", "", "", f"@{draw(some)}\n"]))
    body = draw(st.sampled_from(BODIES)).format(one=draw(some), two=draw(some))
    return f"{decorator}def {name}(x=None):\n    {body}\n"


@st.composite
def gardens(draw: st.DrawFn) -> dict[str, str]:
    """The parts of the file that is changed, by name."""
    held = draw(some)
    parts = {
        "BOX": f"BOX = [{draw(st.sampled_from(['', 'len']))}]\n",
        "Bed": f"class Bed:\n    def __init__(self, held):\n        self.held = held or {held}\n",
    }
    for name in draw(st.lists(some, min_size=2, unique=True)):
        parts[name] = draw(functions(name))
    return parts


@st.composite
def users(draw: st.DrawFn, module: str) -> str:
    """A file that uses what another one has."""
    name = draw(some)
    said = draw(st.sampled_from([name, f"{name} as {draw(some)}", "*"]))
    called = said.rpartition(" ")[2] if said != "*" else name
    return f"from {module} import {said}\ndef own(y): ...\ndef use():\n    {called}(own)(own)()\n"


def linked(every: dict[str, FileFacts]) -> dict[str, LinkedFile]:
    linker = Linker(InMemoryView("r", every, {}))
    return {path: linker.link(path) for path in every}


@settings(max_examples=examples(400, ordinary=150))
@given(before=gardens(), after=gardens(), first=users("garden"), second=users("first"))
def test_who_says_no_changed_name_links_as_before(
    before: dict[str, str], after: dict[str, str], first: str, second: str
) -> None:
    kept = {name: part for name, part in before.items() if name in after}
    some_changed = {**after, **dict(list(kept.items())[::2])}
    users = {"first.py": first.encode(), "second.py": second.encode()}
    was, now = (
        parse_tree({"garden.py": "".join(parts.values()).encode(), **users})[0]
        for parts in (before, some_changed)
    )
    names = changed_names(was["garden.py"], now["garden.py"])
    assert names is not None
    says = {
        path: any(name.encode() in encoded(facts) for name in names) for path, facts in was.items()
    }
    old, new = linked(was), linked(now)
    for path in users:
        read = {key[2:] for key in old[path].dependencies if key.startswith("f:")}
        if not any(says.get(each) for each in {path, *read} - {"garden.py"}):
            assert new[path] == old[path]
