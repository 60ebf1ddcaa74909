"""What an index changed is judged at once, as the rules over the whole graph would judge it."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway.contract import Database
from plugins.codegraph.justification import follow_up, neighbourhood
from plugins.codegraph.justification.justifier import Justifier, Said
from plugins.codegraph.justification.neighbourhood import Changed
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.owner import Owner
from tests.examples import examples
from tests.plugins.codegraph.justification.shops import SHOP, justified
from tests.plugins.codegraph.justification.test_justifier import said
from tests.plugins.codegraph.portal import World, world

CHANGES: dict[str, dict[str, bytes | None]] = {
    "an edit": {
        "shop/database.py": SHOP["shop/database.py"].replace(b"Open the", b"Begin with the")
    },
    "what is new": {
        "shop/auth/keys.py": b"""import smtplib


def mail_key(user):
    \"\"\"Mail a key to a user.\"\"\"
    smtplib.SMTP().send(user)
"""
    },
    "a route": {
        "shop/orders/routes.py": SHOP["shop/orders/routes.py"]
        + b"\n\n@bp.delete('/orders/<id>')\ndef cancel_order(id):\n    return place_order(id)\n"
    },
    "a helper that is one no more": {
        "shop/textutils.py": b"from shop.database import db\n\n\ndef slugify(text):\n"
        b"    db.session.add(text)\n    db.session.commit()\n    return text\n"
    },
}


def _without_users(found: dict[str, Statement]) -> dict[str, Statement]:
    """What is said apart from who comes by: that of what changed code uses is said later."""
    return {name: replace(each, flows=(), consumers=(), value="") for name, each in found.items()}


async def followed_up(made: World, owner: Owner) -> int | None:
    """Judge what changed; returns how much is said otherwise."""
    return await Justifier(made.host.database, made.store).follow_up(owner.org, owner.repo)


@pytest.mark.parametrize("what", CHANGES)
async def test_a_change_is_said_as_if_all_were_judged_anew(
    tmp_path: Path, codegraph_file: Path, what: str
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        before = await said(made, owner)
        await made.change(owner, CHANGES[what])
        assert await followed_up(made, owner) is not None
        at_once = await said(made, owner)
        assert at_once != before
        await justified(made, owner)
        in_the_end = await said(made, owner)
        assert _without_users(at_once) == _without_users(in_the_end)
        for name, each in in_the_end.items():
            assert each.path not in CHANGES[what] or at_once[name] == each


async def test_nothing_is_said_any_more_of_what_goes(tmp_path: Path, codegraph_file: Path) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        await made.change(owner, {"manage.py": None})
        await followed_up(made, owner)
        assert "main" not in await said(made, owner)


async def test_only_what_changed_and_its_callers_are_written(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        await made.change(owner, CHANGES["an edit"])
        assert await followed_up(made, owner) == 1
        assert await followed_up(made, owner) == 0


async def test_each_change_is_judged_alone_and_what_was_missed_with_the_next(
    tmp_path: Path, codegraph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[frozenset[str]] = []

    async def around(database: Database, view: RepositoryView, changed: Changed) -> Any:
        judged.append(changed.paths)
        return await neighbourhood.around(database, view, changed)

    monkeypatch.setattr(follow_up, "around", around)
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        await made.change(owner, CHANGES["an edit"])
        await followed_up(made, owner)
        await made.change(owner, CHANGES["what is new"])  # whose portal ended before it was judged
        await made.change(owner, CHANGES["a route"])
        await followed_up(made, owner)
        await justified(made, owner)
        await made.change(owner, CHANGES["a helper that is one no more"])
        await followed_up(made, owner)
    first, second, third = judged
    assert first == CHANGES["an edit"].keys()
    assert second == CHANGES["what is new"].keys() | CHANGES["a route"].keys()
    assert third == CHANGES["a helper that is one no more"].keys()


async def test_a_judgement_of_the_whole_that_began_before_a_change_does_not_undo_it(
    tmp_path: Path, codegraph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        await made.change(owner, CHANGES["what is new"])
        looked = Justifier.said

        async def slowly(self: Justifier, view: RepositoryView) -> Said:
            found = await looked(self, view)
            await made.change(owner, CHANGES["an edit"])
            await followed_up(made, owner)
            return found

        monkeypatch.setattr(Justifier, "said", slowly)
        await justified(made, owner)
        assert (await said(made, owner))["connect"].purpose == "Begin with the database."


async def test_without_a_judgement_of_the_whole_nothing_is_followed_up(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        assert await followed_up(made, owner) is None
        await justified(made, owner)
        assert await followed_up(made, owner) is None
        assert await followed_up(made, Owner("portal", "nowhere")) is None


@pytest.mark.parametrize("limit", ["MAX_JUDGED", "MAX_EDGES"])
async def test_a_large_change_is_left_to_the_judgement_of_the_whole(
    tmp_path: Path, codegraph_file: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(neighbourhood, limit, 1)
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        before = await said(made, owner)
        await made.change(owner, CHANGES["a route"])
        assert await followed_up(made, owner) is None
        assert await said(made, owner) == before


@settings(max_examples=examples(5), suppress_health_check=list(HealthCheck))
@given(seeds=st.lists(st.integers(0, 99), min_size=1, max_size=4))
def test_what_was_followed_up_on_the_way_changes_nothing_in_the_end(
    codegraph_file: Path, seeds: list[int]
) -> None:
    async def play(every: list[str], *, on_the_way: bool) -> object:
        with TemporaryDirectory() as directory:
            async with world(Path(directory), None, codegraph_file) as made:
                owner = await made.index("shop", SHOP)
                await justified(made, owner)
                for what in every:
                    await made.change(owner, CHANGES[what])
                    if on_the_way:
                        await followed_up(made, owner)
                await justified(made, owner)
                return await said(made, owner)

    chosen = list(dict.fromkeys(random.Random(seed).choice(list(CHANGES)) for seed in seeds))
    apart = asyncio.run(play(chosen, on_the_way=False))
    assert asyncio.run(play(chosen, on_the_way=True)) == apart
