"""What a page makes ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence

from auth.sealer import Sealer
from gateway.contract import Listing, Page
from gateway.pipeline.cursors import Cursors
from gateway.pipeline.pager import Pager


async def test_only_the_results_of_a_page_are_made_ready() -> None:
    async def looked_up(names: Sequence[str]) -> list[dict[str, str]]:
        asked.append("".join(names))
        return [{"name": name} for name in names]

    asked: list[str] = []
    found = Listing("abcdef", key=str.upper, ready=looked_up)
    pager = Pager(Page(4, dict), Cursors(Sealer(b"key", "test")), "purpose")
    first = pager.show(found, None, await pager.ready(found, None))
    assert [each["name"] for each in first["data"]] == ["a", "b", "c", "d"]
    after = pager.cursors.open(first["pagination"]["cursor"], pager.purpose)
    assert after is not None
    assert after.key == "D"
    second = pager.show(found, after, await pager.ready(found, after))
    assert [each["name"] for each in second["data"]] == ["e", "f"]
    assert asked == ["abcd", "ef"]
