"""The archive of a person's data: a ZIP file of their account and their data in plugins.

It is sent while it is made, one file at a time, so that it may be larger than the memory.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from itertools import count
from types import MappingProxyType
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from pydantic_core import to_json

from gateway.contract.offers import Offer
from gateway.contract.personal_data import PersonalData, PersonalFile
from gateway.observability.logs import get_logger

FILE_TIMEOUT_SECONDS = 60.0
"""Seconds that a plugin has for one file."""
ACCOUNT = "account.json"
"""The file with the portal's own data of the person and the archive's contents."""

_UNFIT = re.compile(r'[\x00-\x1f<>:"|?*]')

log = get_logger(__name__)


class Archive:
    """Writes archives.

    Args:
        offers: what each open plugin offers, by its name.
        closed: names the plugins that are not open, and cannot be asked.
    """

    def __init__(
        self,
        offers: Mapping[str, Offer] = MappingProxyType({}),
        closed: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._offers, self._closed = offers, closed

    async def of(self, person: str, account: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """One person's archive, piece by piece.

        A plugin that fails does not spoil the rest: ``account.json`` says what is missing.

        Args:
            person: whose.
            account: what the portal itself keeps of them, as JSON values.
        """
        out = _Written()
        manifest: dict[str, Any] = {
            name: {"missing": "It is not running."} for name in self._closed()
        }
        archive = ZipFile(out, "w", ZIP_DEFLATED)
        for plugin, offer in self._offers.items():
            if offer.personal is None:
                continue
            manifest[plugin], taken = {"files": 0}, set[str]()
            async with aclosing(_files(plugin, offer.personal, person, manifest[plugin])) as files:
                async for file in files:
                    path = f"{plugin}/{inside(file.path, taken)}"
                    await asyncio.to_thread(archive.writestr, path, file.data)
                    yield out.taken()
        known = to_json({**account, "plugins": dict(sorted(manifest.items()))}, indent=2)
        archive.writestr(ACCOUNT, known)
        archive.close()
        yield out.taken()


async def _files(
    plugin: str, data: PersonalData, person: str, manifest: dict[str, Any]
) -> AsyncGenerator[PersonalFile]:
    """A plugin's data, up to a failure; its size and errors are recorded for the person."""
    files = aiter(data.export(person))
    try:
        while (file := await _next(files)) is not None:
            manifest["files"] += 1
            yield file
    except Exception as error:
        log.exception("export_failed", plugin=plugin, person=person)
        manifest["missing"] = f"It failed in the middle ({type(error).__name__}). Try again later."


async def _next(files: AsyncIterator[PersonalFile]) -> PersonalFile | None:
    async with asyncio.timeout(FILE_TIMEOUT_SECONDS):
        return await anext(files, None)


def inside(path: str, taken: set[str]) -> str:
    """A path as every system takes it, below the folder where it begins, and never twice.

    Args:
        path: as the plugin has it, which may hold what people called their files.
        taken: the paths that are there, without regard to case; this one is added.
    """
    names = [_UNFIT.sub("_", name) for name in re.split(r"[/\\]", path)]
    plain = "/".join(name.replace("..", "__") for name in names if name not in ("", ".")) or "file"
    numbered = (plain if number == 1 else f"{plain}-{number}" for number in count(1))
    found = next(each for each in numbered if each.casefold() not in taken)
    taken.add(found.casefold())
    return found


class _Written:
    """A buffer that ``ZipFile`` writes to: it holds what was not taken yet, and cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Take in a piece."""
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""

    def taken(self) -> bytes:
        """Everything since the last time."""
        data, self._pieces = b"".join(self._pieces), []
        return data
