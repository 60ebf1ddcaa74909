"""What is written down of each index is read back the same from either database."""

from __future__ import annotations

from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.changes.compare import ChangeKind
from plugins.codegraph.changes.history import ChangeHistory
from plugins.codegraph.changes.log import UpdateKind
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.store.layers import Change, Stamp
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from tests.plugins.codegraph.portal import content, file_graphs
from tests.plugins.codegraph.store.graphs import register

OWNER = Owner("portal", "garden")
WATER = b'def pour(bed):\n    """Water a bed."""\n    return bed.water + 1\n'
TEND = b"from water import pour\n\n\ndef tend(beds):\n    return [pour(bed) for bed in beds]\n"
FIRST, SECOND = "a" * 40, "b" * 40


async def test_an_index_in_place_is_told_with_its_commit_callers_and_cascade(
    database: OwnedDatabase,
) -> None:
    await register(database, OWNER)
    store, history = GraphStore(database), ChangeHistory(database)
    layers = store.layers(OWNER)
    before = file_graphs(OWNER, {"water.py": WATER, "tend.py": TEND})
    layer = await layers.begin(Stamp(FIRST, "main"))
    await layers.keep(layer, [content(WATER), content(TEND)])
    await layers.write(layer, list(before.values()))
    await layers.serve(layer, Stamp(FIRST, "main"))
    await Justifier(database, store).run(OWNER.org, OWNER.repo)

    text = WATER.replace(b"Water a bed.", b"Send an invoice to the customer.")
    after = file_graphs(OWNER, {"water.py": text, "tend.py": TEND})
    change = Change([after["water.py"]], contents=[content(text)])
    await layers.rewrite(layer, change, Stamp(SECOND, "main", author="Ada", subject="Invoices"))
    await Justifier(database, store).run(OWNER.org, OWNER.repo)

    view = await store.view(OWNER.org, OWNER.repo)
    assert view is not None
    newest, first = await history.updates(view, 10)
    assert (first.kind, first.counts) == (UpdateKind.FIRST, {"files": 2, "entities": 2})
    assert (newest.author, newest.subject, newest.is_commit) == ("Ada", "Invoices", True)
    assert await history.of_commit(view, FIRST[:7]) == first.id
    assert await history.of_commit(view, "c" * 7) is None
    (told,), total = await history.changes(view, [newest.id], 10, ["water.py"])
    assert (total, told.kind) == (1, ChangeKind.UPDATED)
    (caller,) = told.told.callers
    assert caller == next(each.key for each in before["tend.py"].entities if each.name == "tend")
    assert newest.cascade is not None
    assert newest.cascade["0"]["meaning"] == "changed"
