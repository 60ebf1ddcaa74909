"""``porch payments`` shows what was paid, and holds it against Stripe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import Run
from tests.gateway.payments.conftest import PLANS, settings
from tests.servers.stripe_api import KEY, SECRET, StripeServer


@pytest.fixture
def stripe(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StripeServer]:
    """A portal here that sells, and what it sells through."""
    monkeypatch.setenv("GARDEN_STRIPE_KEY", KEY)
    monkeypatch.setenv("GARDEN_STRIPE_HOOK", SECRET)
    (place / "config" / "plans.yaml").write_text(PLANS)
    file = place / "config" / "portal.yaml"
    config = yaml.safe_load(file.read_text()) if file.exists() else {}
    with StripeServer() as found:
        file.write_text(yaml.safe_dump({**config, "payments": {"stripe": settings(found)}}))
        yield found


@pytest.mark.usefixtures("stripe")
def test_what_was_paid_is_listed_and_held_against_stripe(porch: Run) -> None:
    listed = porch("payments", "list")
    assert listed.exit_code == EXIT.DONE, listed.output
    assert "Nothing was paid." in listed.output
    assert "There are no subscriptions." in listed.output
    found = porch("payments", "reconcile")
    assert found.exit_code == EXIT.DONE, found.output
    assert "Everything is kept as it is." in found.output
    assert json.loads(porch("payments", "reconcile", "--json").output) == {"differences": []}


def test_stripe_that_is_away_is_told(porch: Run, stripe: StripeServer) -> None:
    stripe.fails = [429]
    found = porch("payments", "reconcile")
    assert found.exit_code == EXIT.PROBLEM
    assert "Stripe does not answer now" in found.output


def test_where_nothing_is_sold_it_says_so(porch: Run) -> None:
    found = porch("payments", "list")
    assert found.exit_code == EXIT.PROBLEM
    assert "portal.yaml has no section payments" in found.output
