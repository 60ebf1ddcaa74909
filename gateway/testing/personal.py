"""The part of the contract suite on what plugins keep of people."""

from __future__ import annotations

from gateway.contract import PersonalData
from gateway.testing.portal import TestPortal
from gateway.testing.suite_part import SuitePart

STRANGER = "person:aaaaaaaaaaaaaaaaaaaa"


class PersonalContract(SuitePart):
    """What a plugin owes the people of whom it keeps something; a part of ``PluginContract``."""

    async def test_people_get_what_they_left_and_it_is_erased(self) -> None:
        """Both for the one person alone; erasing again, or somebody unknown, is no error."""
        async with self.opened({"items": {self.declared.name: "open"}}) as portal:
            data = portal.running.plugins.offers[self.declared.name].personal
            if data is None:
                assert not self.leaves, "Offer `personal`: people leave something behind here."
                return
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

    async def leave(self, portal: TestPortal, person: str) -> bool:
        """Leave something of a person behind where no call does; whether it did. Override it."""
        return False

    async def _leave(self, portal: TestPortal, name: str) -> str:
        person = await portal.sign_in(name)
        for tool, arguments in self.leaves:
            result = await portal.call(tool, arguments, tier=name)
            assert not result.is_error, f"{tool}: {result.text}"
        left = await self.leave(portal, person.id)
        assert left or self.leaves, "Say in `leaves` how someone leaves something of theirs behind."
        return person.id


async def _exported(data: PersonalData, person: str) -> dict[str, bytes]:
    """What somebody gets, by its paths."""
    files = [each async for each in data.export(person)]
    found = {each.path: each.data for each in files}
    assert len(found) == len(files), "Two files have one path."
    return found
