"""Two replicas keep their promises while what they stand on is killed, cut, slowed and filled."""

from __future__ import annotations

import pytest

from tests.chaos import ledger
from tests.chaos.run import chaos
from tests.examples import times

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

SEED = 7
MINUTES = 3.0
PAUSE_SECONDS = times(thorough=1, ordinary=4) / 10
"""Between a client's requests: faults come as often, and take less from the tests beside."""
PATIENCE_SECONDS = times(thorough=1, ordinary=2) * ledger.PATIENCE_SECONDS
"""Beside other tests on two cores a replica that takes work over is as slow as they make it; a run
by hand (``make chaos``) holds it to the bar."""


def test_nothing_is_lost_doubled_or_shown_to_strangers_and_every_queue_moves(
    postgres_url: str, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    faults: list[str] = []
    seen = chaos(
        SEED,
        MINUTES,
        postgres_url,
        redis_url,
        faults.append,
        pause_seconds=PAUSE_SECONDS,
        patience_seconds=PATIENCE_SECONDS,
    )
    assert not seen.broken, "\n".join([*faults, "", *sorted(set(seen.broken))[:30]])
    assert len(seen.written) > 100
    assert len(seen.batches) > 10
    assert len(faults) >= 8
