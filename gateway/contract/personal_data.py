"""What a plugin keeps of people: handed to them on request, and erased when they leave.

Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PersonalFile:
    """One file of what a plugin keeps of a person, as they get it.

    Attributes:
        path: where it lies in the plugin's folder of the archive, with ``/``; no file twice. What
            not every system takes in a name is replaced.
        data: what is in it.
    """

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PersonalData:
    """How a plugin answers for what it keeps of people, each known by ``Caller.person``.

    The portal keeps a list of the people whose accounts were deleted. It asks ``people`` after
    every deletion, at each start and once an hour, and has whoever is on both lists erased; what
    fails is tried again. So nothing is lost where the plugin was off or a call was still writing.

    Attributes:
        people: ``await people()``; the ids of everyone of whom something is kept.
        export: ``async for file in export(person)``; all that is kept of a person, also what they
            have deleted if it is still stored, and no secret.
        erase: ``await erase(person)``; afterwards nothing that is kept says who they were, and
            ``people`` does not name them. It may be cancelled in the middle and is then called
            again, also by several processes at once; for someone unknown it does nothing.
    """

    people: Callable[[], Awaitable[Collection[str]]]
    export: Callable[[str], AsyncIterator[PersonalFile]]
    erase: Callable[[str], Awaitable[None]]
