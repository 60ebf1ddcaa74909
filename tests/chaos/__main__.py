"""``python -m tests.chaos``: a chaotic while by hand, and what became of what was promised."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter

from tests.chaos.ledger import Ledger, percentile
from tests.chaos.run import chaos

POSTGRES = "postgresql://postgres@127.0.0.1:5432/test"
REDIS = "redis://127.0.0.1:6379/15"


def main() -> int:
    """Run it, and print the reckoning; the exit code says whether every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", default="", help="a part of the names of faults")
    given = parser.parse_args()
    postgres = os.environ.get("PORCH_TEST_POSTGRES", POSTGRES).replace("+asyncpg", "")
    redis = os.environ.get("PORCH_TEST_REDIS", REDIS)
    print(f"{given.minutes:g} minutes of chaos, seed {given.seed}")
    began = time.monotonic()

    def tell(line: str) -> None:
        print(f"{time.monotonic() - began:7.1f} s  {line}", flush=True)

    ledger = chaos(given.seed, given.minutes, postgres, redis, tell, given.only)
    _print(ledger)
    return bool(ledger.broken)


def _print(ledger: Ledger) -> None:
    print("\nAnswers")
    for (what, how), count in sorted(ledger.answers.items()):
        print(f"  {count:7,}  {what}: {how}")
    print("\nOpen searches, 99 of 100 within")
    for fault in sorted(ledger.seconds):
        seconds = percentile(ledger.seconds[fault])
        print(f"  {seconds * 1000:7.0f} ms, {ledger.slowness(fault):.1f} of calm: {fault}")
    waits = [b.done_at - b.taken_at for b in ledger.batches if b.done_at is not None]
    print(f"\nAcknowledged: {len(ledger.written):,} writes and {len(ledger.batches):,} batches")
    print(f"A batch took at most {max(waits, default=0):.1f} s")
    print(f"\nBroken promises: {len(ledger.broken)}")
    for each, count in Counter(ledger.broken).most_common(50):
        print(f"  {count:5,} times: {each}")


if __name__ == "__main__":
    sys.exit(main())
