"""What the table of usage keeps of people: theirs to have, anonymous once they are gone."""

from __future__ import annotations

import json

from gateway.services.database.service import OwnedDatabase
from gateway.services.models.ledger import Ledger
from gateway.services.models.personal_data import personal_data
from tests.gateway.services.models.conftest import rows
from tests.gateway.services.models.test_ledger import END, call


async def test_who_goes_takes_their_name_along_and_leaves_the_cost(
    database: OwnedDatabase,
) -> None:
    ledger, kept = Ledger(database), personal_data(database)
    await ledger.begin(call("done"))
    await ledger.finish(call("done"), END)
    await ledger.begin(call("running"))
    assert list(await kept.people()) == ["person:anna"]
    [file] = [each async for each in kept.export("person:anna")]
    told = json.loads(file.data)
    assert {each["id"] for each in told} == {"done", "running"}
    assert all("person" not in each for each in told)
    assert not [each async for each in kept.export("person:ben")]
    await kept.erase("person:ben")
    await kept.erase("person:anna")
    await kept.erase("person:anna")
    assert list(await kept.people()) == []
    await ledger.finish(call("running"), END)  # what was under way does not bring them back
    found = await rows(database)
    assert [row["person"] for row in found] == [None, None]
    assert sum(row["cost_nano_usd"] for row in found) == 2 * (END.cost_nano_usd or 0)
