"""What people take with them."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from zipfile import ZipFile

from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import Offer, PersonalData, PersonalFile
from gateway.identity.personal_archive import Archive


async def _nobody() -> list[str]:
    return []


async def _nothing(person: str) -> None:
    return None


def offering(*files: PersonalFile, then: Exception | None = None) -> Offer:
    async def export(person: str) -> AsyncIterator[PersonalFile]:
        for each in files:
            yield each
        if then is not None:
            raise then

    return Offer(personal=PersonalData(_nobody, export, _nothing))


async def opened(archive: Archive) -> dict[str, bytes]:
    data = b"".join([piece async for piece in archive.of("person:ana", {"id": "person:ana"})])
    with ZipFile(io.BytesIO(data)) as found:
        assert found.testzip() is None
        return {name: found.read(name) for name in found.namelist()}


async def test_it_holds_the_account_and_each_plugins_files_in_a_folder_of_its_own() -> None:
    notes = offering(PersonalFile("a.md", b"A"), PersonalFile("deep/b.bin", b"\0\1"))
    found = await opened(Archive({"notes": notes, "plain": Offer(), "empty": offering()}))
    assert found["notes/a.md"] == b"A"
    assert found["notes/deep/b.bin"] == b"\0\1"
    told = json.loads(found["account.json"])
    assert told["id"] == "person:ana"
    assert told["plugins"] == {"empty": {"files": 0}, "notes": {"files": 2}}


async def test_what_is_missing_is_said_and_spoils_nothing_else() -> None:
    broken = offering(PersonalFile("a.md", b"A"), then=OSError("disk"))
    well = offering(PersonalFile("b.md", b"B"))
    found = await opened(Archive({"broken": broken, "well": well}, lambda: ["off"]))
    assert sorted(found) == ["account.json", "broken/a.md", "well/b.md"]
    told = json.loads(found["account.json"])["plugins"]
    assert told["broken"]["files"] == 1
    assert "OSError" in told["broken"]["missing"]
    assert told["off"] == {"missing": "It is not running."}
    assert told["well"] == {"files": 1}


@given(st.lists(st.text("./\\aA:\0 -2"), max_size=8))
async def test_whatever_files_are_called_all_are_there_below_the_plugins_folder(
    paths: list[str],
) -> None:
    found = await opened(Archive({"p": offering(*(PersonalFile(each, b"") for each in paths))}))
    names = [name for name in found if name != "account.json"]
    assert len(names) == len(paths)
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        folder, *parts = name.split("/")
        assert folder == "p"
        assert parts
        assert not {"", ".", ".."} & set(parts)
        assert not set(name) & set("\\:\0")


async def test_it_is_sent_while_it_is_made() -> None:
    many = offering(*(PersonalFile(f"{n}.bin", bytes([n]) * 100_000) for n in range(5)))
    pieces = [piece async for piece in Archive({"many": many}).of("person:ana", {})]
    assert len(pieces) == 6
