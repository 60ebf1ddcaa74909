"""The audit log on a page, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert

from gateway.observability.audit_record import AuditRecord
from gateway.observability.audit_table import audit
from gateway.surfaces.admin_pages import audit as module
from gateway.toolkit.csv_text import _cell
from tests.gateway.observability.test_audit import NOON, record
from tests.gateway.surfaces.admin_pages.conftest import Looked


async def write(looked: Looked, *records: AuditRecord) -> None:
    database = looked.portal.running.services.shared_database
    async with database.begin() as connection:
        await connection.execute(insert(audit), [each._asdict() for each in records])


async def test_records_are_filtered_by_who_what_outcome_and_time(looked: Looked) -> None:
    browser = await looked.admin()
    person = await looked.person("ana")
    await write(
        looked,
        record(person=person.id, item="garden/dig"),
        record(item="garden/water", outcome="not_allowed", at=NOON + timedelta(days=1)),
        record(item="kitchen/cook", person="token:ci", at=NOON + timedelta(days=2)),
    )

    async def items(query: str) -> set[str]:
        page = await browser.get(f"/admin/audit?{query}")
        assert page.status_code == 200
        known = ("garden/dig", "garden/water", "kitchen/cook")
        return {each.partition("/")[2] for each in known if f"<code>{each}</code>" in page.text}

    assert await items("") == {"dig", "water", "cook"}
    assert await items("who=github:ana") == {"dig"}
    assert await items(f"who={person.id}") == {"dig"}
    assert await items("who=anonymous") == {"water"}
    assert await items("who=token:ci") == {"cook"}
    assert await items("what=garden") == {"dig", "water"}
    assert await items("what=garden/dig&tier=open") == {"dig"}
    assert await items("outcome=not-ok") == {"water"}
    day = (NOON + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    assert await items(f"from={day}&to={day[:10]}T23:59") == {"water"}


@pytest.mark.parametrize("query", ["from=yesterday", "after=x~1", f"after={NOON:%Y-%m-%d}~x"])
async def test_what_is_no_time_or_no_place_is_said(looked: Looked, query: str) -> None:
    browser = await looked.admin()
    page = await browser.get(f"/admin/audit?{query}")
    assert page.status_code == 400
    assert 'role="alert"' in page.text


async def test_pages_follow_each_other(looked: Looked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECORDS_PER_PAGE", 2)
    browser = await looked.admin()
    await write(looked, *(record(item=f"garden/n{n}") for n in range(5)))
    page, seen = await browser.get("/admin/audit?what=garden"), list[int]()
    while True:
        seen += [n for n in reversed(range(5)) if f"<code>garden/n{n}</code>" in page.text]
        if "Next page" not in page.text:
            break
        (link,) = re.findall(r'href="([^"]*)">Next page', page.text)
        page = await browser.get("/admin/audit" + unescape(link))
    assert seen == [4, 3, 2, 1, 0]


async def test_what_is_filtered_is_exported_and_no_cell_is_a_formula(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH", 2)
    browser = await looked.admin()
    evil = '=HYPERLINK("http://evil.example","x")'
    several = [record(item="garden/dig", request_id=f"{n}") for n in range(5)]
    await write(looked, *several, record(item=evil), record(item="kitchen/cook"))
    answer = await browser.get("/admin/audit.csv?what=garden")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["cache-control"] == "no-store"
    head, *rows = csv.reader(io.StringIO(answer.text))
    assert tuple(head) == AuditRecord._fields
    assert [row[1] for row in rows] == ["4", "3", "2", "1", "0"]
    everything = await browser.get("/admin/audit.csv")
    cells = [cell for row in csv.reader(io.StringIO(everything.text)) for cell in row]
    assert f"'{evil}" in cells
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    assert (await browser.get("/admin/audit.csv?to=never")).status_code == 400


@given(st.text(max_size=20))
def test_no_text_is_taken_for_a_formula(text: str) -> None:
    cell = _cell(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cell.removeprefix("'") == text.removeprefix("'")
