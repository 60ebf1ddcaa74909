"""Skill cards, and the bytes of their files."""

from __future__ import annotations

import asyncio
import errno
from hashlib import sha256
from typing import Any

import pytest

from gateway.contract import Objects, ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import AttachmentDraft, Writer
from plugins.workflows.model import Visibility
from plugins.workflows.playbook import Playbook
from tests.plugins.workflows.conftest import Clock, embed, skill

PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE


def file(name: str = "a.txt", data: bytes = b"A") -> AttachmentDraft:
    return AttachmentDraft(name, "text/plain", data)


async def stored(objects: Objects) -> set[str]:
    """The keys of all objects."""
    return {each.key async for each in objects.list()}


def keys(*contents: bytes) -> set[str]:
    return {f"attachments/{sha256(each).hexdigest()}" for each in contents}


class FullStore:
    """A store that has room for some objects more."""

    def __init__(self, objects: Objects, room: int) -> None:
        self._objects, self._room = objects, room

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    async def put(self, key: str, data: bytes) -> None:
        self._room -= 1
        if self._room < 0:
            raise OSError(errno.ENOSPC, "no room")
        await self._objects.put(key, data)


async def test_a_card_is_read_back_with_its_files(
    playbook: Playbook, objects: Objects, alice: Writer, bob: Writer
) -> None:
    files = (file("b.txt", b"B"), file("a.bin", b"\0\xff"), file("same.txt", b"B"))
    made = await playbook.add_skill(alice, skill(tags=("X",), attachments=files))
    assert await playbook.skill("naming", alice.person) == made
    assert [(each.name, each.size) for each in made.attachments] == [
        ("b.txt", 1),
        ("a.bin", 2),
        ("same.txt", 1),
    ]
    assert await playbook.attachment(made.id, "a.bin", alice.person) == (
        made.attachments[1],
        b"\0\xff",
    )
    assert await stored(objects) == keys(b"B", b"\0\xff")
    for name in ("c.txt", "../a.bin", "\0"):
        with pytest.raises(ToolFailed, match="Attachment not found"):
            await playbook.attachment(made.id, name, alice.person)
    with pytest.raises(ToolFailed, match="Access denied: skill is private"):
        await playbook.attachment(made.id, "a.bin", bob.person)


async def test_bytes_go_with_the_last_card_whose_versions_have_them(
    playbook: Playbook, objects: Objects, alice: Writer, bob: Writer
) -> None:
    mine = await playbook.add_skill(alice, skill(attachments=(file(), file("b", b"B"))))
    theirs = await playbook.add_skill(bob, skill(attachments=(file("x.txt"),)))
    mine = await playbook.edit_skill(alice, mine.id, 1, {"attachments": (file("c", b"C"),)})
    assert await stored(objects) == keys(b"A", b"B", b"C")  # a version that is kept has them
    assert await playbook.edit_skill(alice, mine.id, 2, {"attachments": (file("c", b"C"),)}) == mine
    await playbook.delete_skill(bob, theirs.id, 1)
    assert await stored(objects) == keys(b"A", b"B", b"C")
    await playbook.delete_skill(alice, mine.id, 2)
    assert await stored(objects) == set()


async def test_a_card_that_is_refused_leaves_no_bytes(
    playbook: Playbook, objects: Objects, alice: Writer
) -> None:
    made = await playbook.add_skill(alice, skill(attachments=(file(),)))
    new = {"attachments": (file(), file("new", b"New"))}
    below = Writer(alice.person, may_publish=False)
    for write in (
        playbook.edit_skill(alice, made.id, 7, new),
        playbook.add_skill(below, skill(visibility=PUBLIC, attachments=new["attachments"])),
        playbook.add_skill(alice, skill(key=made.key, attachments=new["attachments"])),
    ):
        with pytest.raises(ToolFailed):
            await write
    assert await stored(objects) == keys(b"A")


async def test_a_store_that_is_full_leaves_nothing_behind(
    database: OwnedDatabase, objects: Objects, clock: Clock, alice: Writer
) -> None:
    full: Any = FullStore(objects, room=2)
    playbook = Playbook(database, full, embed, clock)
    with pytest.raises(OSError, match="no room"):
        await playbook.add_skill(
            alice, skill(attachments=tuple(file(str(n), str(n).encode()) for n in range(5)))
        )
    assert await stored(objects) == set()
    whole = Playbook(database, objects, embed, clock)
    added = await whole.add_skill(alice, skill())
    assert added.key == "naming"


async def test_bytes_that_are_deleted_and_wanted_at_once_are_there(
    playbook: Playbook, objects: Objects, alice: Writer, bob: Writer
) -> None:
    for number in range(10):
        old = await playbook.add_skill(alice, skill(attachments=(file(),)))
        added, _ = await asyncio.gather(
            playbook.add_skill(bob, skill(attachments=(file(f"{number}.txt"),))),
            playbook.delete_skill(alice, old.id, 1),
        )
        _, data = await playbook.attachment(added.id, f"{number}.txt", bob.person)
        assert data == b"A"
        await playbook.delete_skill(bob, added.id, 1)
        assert await stored(objects) == set()


class Away:
    """A store of objects that deletes nothing just now."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    async def delete(self, *keys: str) -> None:
        raise OSError("the store is away")


async def test_bytes_that_could_not_be_deleted_with_their_card_are_swept_later(
    playbook: Playbook, database: OwnedDatabase, objects: Objects, clock: Clock, alice: Writer
) -> None:
    away: Any = Away(objects)
    meanwhile = Playbook(database, away, embed, clock)
    gone = await meanwhile.add_skill(alice, skill(attachments=(file(),)))
    stays = await meanwhile.add_skill(alice, skill("Stays", attachments=(file("b", b"B"),)))
    await meanwhile.delete_skill(alice, gone.id, 1)
    await objects.put("attachments/" + "0" * 64, b"of a process that died")
    assert await stored(objects) >= keys(b"A", b"B")
    assert await playbook.sweep() == 2
    assert await stored(objects) == keys(b"B")
    assert await playbook.sweep() == 0
    assert (await playbook.attachment(stays.id, "b", alice.person))[1] == b"B"


async def test_a_sweep_leaves_what_is_being_attached(
    playbook: Playbook, objects: Objects, alice: Writer
) -> None:
    for number in range(10):
        card, _ = await asyncio.gather(
            playbook.add_skill(alice, skill(attachments=(file("a", str(number).encode()),))),
            playbook.sweep(),
        )
        data = (await playbook.attachment(card.id, "a", alice.person))[1]
        assert data == str(number).encode()


async def test_a_stale_edit_of_a_card_is_refused(
    playbook: Playbook, alice: Writer, bob: Writer
) -> None:
    made = await playbook.add_skill(alice, skill(visibility=PUBLIC))
    new = {"content": "New.", "attachments": (file(),), "tags": ("t",)}
    edited = await playbook.edit_skill(alice, made.key, 1, new)
    assert (edited.version, edited.content, edited.tags) == (2, "New.", ("t",))
    with pytest.raises(ToolFailed) as failed:
        await playbook.edit_skill(alice, made.id, 1, {"name": "Other"})
    assert failed.value.details["changed"][0]["fields"] == ["attachments", "content", "tags"]
    with pytest.raises(ToolFailed, match="skill is not yours"):
        await playbook.edit_skill(bob, made.id, 2, {"name": "Other"})
    await playbook.delete_skill(alice, made.id, 2)
    with pytest.raises(ToolFailed, match="Skill not found"):
        await playbook.edit_skill(alice, made.id, 3, {"name": "Other"})
    assert (await playbook.add_skill(alice, skill(key="naming"))).key == "naming"
