"""Two replicas keep their promises while what they stand on is killed, cut, slowed and filled."""

from __future__ import annotations

import pytest

from tests.chaos.run import chaos
from tests.examples import times

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

SEED = 7
MINUTES = 3.0
PAUSE_SECONDS = times(thorough=1, ordinary=4) / 10
"""Between a client's requests: faults come as often, and take less from the tests beside."""


def test_nothing_is_lost_doubled_or_shown_to_strangers_and_every_queue_moves(
    postgres_url: str, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    faults: list[str] = []
    ledger = chaos(
        SEED, MINUTES, postgres_url, redis_url, faults.append, pause_seconds=PAUSE_SECONDS
    )
    assert not ledger.broken, "\n".join([*faults, "", *sorted(set(ledger.broken))[:30]])
    assert len(ledger.written) > 30
    assert len(ledger.batches) > 10
    assert len(faults) >= 8
