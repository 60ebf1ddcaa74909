"""The part of the contract suite on what plugins keep of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from gateway.contract import PersonalData, Plugin
from gateway.testing.portal import TestPortal

STRANGER = "person:aaaaaaaaaaaaaaaaaaaa"


class PersonalContract:
    """What a plugin owes the people of whom it keeps something; a part of ``PluginContract``.

    Attributes:
        leaves: calls by which someone leaves something of their own behind: names of tools, and
            arguments.
    """

    leaves: Sequence[tuple[str, Mapping[str, Any]]] = ()

    @property
    def declared(self) -> Plugin:
        """What the plugin declares."""
        raise NotImplementedError

    def opened(
        self, tiers: Mapping[str, Any] | None = None
    ) -> AbstractAsyncContextManager[TestPortal]:
        """A portal with the plugin in it, seeded."""
        raise NotImplementedError

    async def test_people_get_what_they_left_and_it_is_erased(self) -> None:
        """Both for the one person alone; erasing again, or somebody unknown, is no error."""
        async with self.opened({"items": {self.declared.name: "open"}}) as portal:
            data = portal.running.plugins.offers[self.declared.name].personal
            if data is None:
                assert not self.leaves, "Offer `personal`: people leave something behind here."
                return
            assert self.leaves, "Say in `leaves` how someone leaves something of their own behind."
            ana = await self._leave(portal, "ana")
            ben = await self._leave(portal, "ben")
            assert {ana, ben} <= set(await data.people())
            assert await _exported(data, ana), "The export is empty."
            of_ben = await _exported(data, ben)
            for who in (ana, ana, STRANGER):
                await data.erase(who)
            assert ana not in await data.people(), "`people` names somebody who was erased."
            assert await _exported(data, ana) == {}, "Something is left of who was erased."
            assert await _exported(data, STRANGER) == {}
            assert await _exported(data, ben) == of_ben, "Another one's was erased, or changed."

    async def _leave(self, portal: TestPortal, name: str) -> str:
        person = await portal.sign_in(name)
        for tool, arguments in self.leaves:
            result = await portal.call(tool, arguments, tier=name)
            assert not result.is_error, f"{tool}: {result.text}"
        return person.id


async def _exported(data: PersonalData, person: str) -> dict[str, bytes]:
    """What somebody gets, by its paths."""
    files = [each async for each in data.export(person)]
    found = {each.path: each.data for each in files}
    assert len(found) == len(files), "Two files have one path."
    return found
