"""Portals that are killed between hearing of a payment and crediting it credit it once."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select

from auth.callers import Account
from gateway.budgets.tables import credits
from gateway.config.money import NANOS_PER_DOLLAR
from gateway.identity.stores import open_stores
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import OwnedDatabase, open_database
from tests.conftest import new_database
from tests.examples import times
from tests.servers.stripe_api import StripeServer

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
PAYMENTS = times(thorough=60, ordinary=3)
SITE = "http://127.0.0.1:8321"
"""The portal's public address, which it writes on what it makes at Stripe."""


@asynccontextmanager
async def opened(address: str, folder: Path) -> AsyncIterator[OwnedDatabase]:
    service = open_database(address, folder)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    yield database
    await service.close()


def started(directory: Path, database: str, stripe: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "tests.gateway.payments.taker"]
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [*command, str(directory), database, stripe],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=dict(os.environ),
        )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("http://127.0.0.1:"):
            return process, line.strip()
    raise AssertionError((directory / "log").read_text())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def paid(stripe: StripeServer, person: str) -> None:
    """Have somebody pay $5 at Stripe."""
    marks = {"porch": SITE, "person": person, "account": person, "for": "credit"}
    session = {
        "id": stripe.id("cs"),
        "object": "checkout.session",
        "mode": "payment",
        "amount_total": 500,
        "customer": "cus_1",
        "metadata": marks,
        "_payment": {"metadata": marks},
    }
    stripe.objects[session["id"]] = session  # type: ignore[index]
    stripe.pay(session["id"])  # type: ignore[arg-type]


async def delivered(stripe: StripeServer, event: object, url: str) -> bool:
    """Whether a portal has taken an event."""
    body, headers = stripe.signed(event)  # type: ignore[arg-type]
    async with httpx2.AsyncClient(timeout=20) as http:
        try:
            answer = await http.post(f"{url}/hooks/payments/stripe", content=body, headers=headers)
        except httpx2.HTTPError:
            return False
        return answer.status_code == 200


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
async def test_a_payment_is_credited_once_whenever_the_portal_dies(
    tmp_path: Path,
    database: str,
    request: pytest.FixtureRequest,
    told: Callable[[str, object], None],
) -> None:
    if database == "sqlite":
        await _killed(tmp_path, "sqlite", told)
        return
    async with new_database(request.getfixturevalue("postgres_url")) as address:
        await _killed(tmp_path, address, told)


@pytest.fixture
def told(record_property: Callable[[str, object], None]) -> Callable[[str, object], None]:
    return record_property


async def _killed(folder: Path, address: str, told: Callable[[str, object], None]) -> None:
    kills = 0
    async with opened(address, folder) as database:
        person = await open_stores(database).people.signed_in(
            Account.of_key("0x00000000000000000000000000000000000A11cE")
        )
        with StripeServer() as stripe:
            for _ in range(PAYMENTS):
                paid(stripe, person.id)
                process, url = started(folder, address, stripe.url)
                wait = random.uniform(0, 0.2)

                def strike(asked: str, process: subprocess.Popen[str] = process) -> None:
                    time.sleep(wait)  # noqa: B023  (it dies while it is answered, or a moment later)
                    process.kill()

                stripe.seen = strike
                await asyncio.gather(*(delivered(stripe, each, url) for each in stripe.sent))
                end(process)
                kills += 1
                stripe.seen = lambda asked: None
            process, url = started(folder, address, stripe.url)
            for event in stripe.sent:
                assert await delivered(stripe, event, url)
            end(process)
        async with database.engine.connect() as connection:
            amount = await connection.scalar(select(func.sum(credits.c.amount)))
            count = await connection.scalar(select(func.count()).select_from(credits))
    told("kills", kills)
    assert (amount, count) == (5 * PAYMENTS * NANOS_PER_DOLLAR, PAYMENTS)
