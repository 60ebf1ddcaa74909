"""The matrix of items and tiers."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Caller, Tier
from gateway.catalog.catalog import Decision
from gateway.catalog.tier_rule import ItemKey, may_know, may_use
from gateway.surfaces.admin_pages import access as module
from gateway.surfaces.admin_pages.access import cells
from tests.gateway.surfaces.admin_pages.conftest import Looked

KEY = ItemKey("garden", "tool", "dig")


@given(st.sampled_from(list(Tier)), st.booleans())
def test_a_cell_says_what_the_gate_does(tier: Tier, hidden: bool) -> None:
    decision = Decision(tier, hidden, "")
    for caller, cell in zip((Caller("x", t, ()) for t in Tier), cells(decision), strict=True):
        assert (cell == "yes") == may_use(caller, KEY, decision)
        assert (cell != "hidden") == may_know(caller, KEY, decision)


async def test_each_item_stands_with_its_line_and_what_to_write_instead(looked: Looked) -> None:
    browser = await looked.admin()
    text = unescape((await browser.get("/admin/access?text=harvest")).text)
    assert "garden/<wbr>harvest" in text
    assert '<td class="hidden">hidden</td>' in text
    assert "tiers.yaml:" in text
    assert "garden/harvest:" in text
    assert "garden/harvest: {tier: public, hidden: true}" in text
    assert "1 of " in text


@pytest.mark.parametrize(
    ("query", "there", "missing"),
    [
        ("plugin=garden", "garden/<wbr>water", "No item is like that"),
        ("plugin=nobody", "No item is like that", "garden/<wbr>water"),
        ("kind=tool&tier=public", "garden/<wbr>water", "garden/<wbr>look"),
        ("below=hidden", "garden/<wbr>harvest", "garden/<wbr>water"),
        ("below=told", "garden/<wbr>water", "garden/<wbr>harvest"),
        ("text=WATER", "garden/<wbr>water", "garden/<wbr>harvest"),
        ("page=999", "garden/<wbr>water", "No item is like that"),
        ("page=-1%00&text=%00", "garden/<wbr>water", "No item is like that"),
    ],
)
async def test_it_is_filtered(looked: Looked, query: str, there: str, missing: str) -> None:
    browser = await looked.admin()
    page = await browser.get(f"/admin/access?{query}")
    assert page.status_code == 200
    assert there in page.text
    assert missing not in page.text


async def test_many_items_are_told_in_pages_each_once(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS_PER_PAGE", 2)
    browser = await looked.admin()
    ruled = [key for _, key, _ in looked.portal.running.catalog.ruled()]
    seen = []
    for number in range(1, -(-len(ruled) // 2) + 1):
        text = (await browser.get(f"/admin/access?page={number}")).text.replace("<wbr>", "")
        seen += [key for key in ruled if f'<code class="key">{key}</code>' in unescape(text)]
    assert seen == ruled
