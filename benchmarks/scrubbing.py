"""How well secrets are found in what callers send, and what looking for them takes.

Quality is measured on the labelled set of the tests: fakes of every kind in seven contexts, and
innocent lines. Time is measured on diffs of 50 KB each, made of this project's own files with a
lockfile's part in each, every other one with a secret in it; each diff is looked at in turns with
the others, as an agent's calls come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter

from benchmarks.table import Bar, Row
from gateway.scrubbing.rule_files import all_rules
from gateway.scrubbing.scrubber import Scrubber
from tests.gateway.scrubbing.fakes import made
from tests.gateway.scrubbing.innocent import GENERATED, lines
from tests.gateway.scrubbing.labelled import ALL_FORMS, cases

SECTION = "scrubbing"
RECALL, FALSE_POSITIVES, SLOWEST = 0.95, 0.01, 1.0
"""The bars: shares of secrets and of innocent lines; milliseconds for a diff, p50."""
SIZE, DIFFS, ROUNDS, CALLS = 50_000, 12, 40, 20_000
QUERY = {"query": "who may use what in the portal", "limit": 5, "filters": {"tags": ["access"]}}

_ROOT = Path(__file__).parents[1]


def measure() -> list[Row]:
    """Quality, then time."""
    scrubber = Scrubber()
    return [*_quality(scrubber), *_times(scrubber)]


def _quality(scrubber: Scrubber) -> list[Row]:
    every = list(cases())
    missed = sorted({each.rule for each in every if _is_left(scrubber, each.text, each.secrets)})
    left = sum(_is_left(scrubber, each.text, each.secrets) for each in every)
    innocent = list(lines())
    touched = [line for line in innocent if scrubber.text(line)[1]]
    return [
        Row(
            SECTION,
            f"secrets found, of {len(every):,} of {len(ALL_FORMS)} kinds in context",
            1 - left / len(every),
            "",
            Bar("at least", RECALL),
            f"{len(all_rules())} rules; missed at times: {', '.join(missed) or 'none'}",
            headline=True,
        ),
        Row(
            SECTION,
            f"innocent lines touched, of {len(innocent)}",
            len(touched) / len(innocent),
            "",
            Bar("at most", FALSE_POSITIVES),
            "lockfile hashes, ids, images, addresses, minified code",
            headline=True,
        ),
    ]


def _is_left(scrubber: Scrubber, text: str, secrets: Sequence[str]) -> bool:
    cleaned, _ = scrubber.text(text)
    return any(secret in cleaned for secret in secrets)


def _times(scrubber: Scrubber) -> list[Row]:
    diffs = [_diff(Random(seed), with_secret=seed % 2 == 1) for seed in range(DIFFS)]
    first = _milliseconds(lambda: scrubber.text(diffs[0]))
    for each in diffs:
        scrubber.text(each)
    taken = [_milliseconds(partial(scrubber.text, d)) for _ in range(ROUNDS) for d in diffs]
    p95 = quantiles(taken, n=20)[-1]
    return [
        Row(
            SECTION,
            "a diff of 50 KB, p50",
            median(taken),
            "ms",
            Bar("under", SLOWEST),
            f"p95 {p95:.2f} ms, the very first {first:.1f} ms; {SIZE / median(taken) / 1000:.0f} "
            f"MB/s, over {DIFFS} diffs",
            headline=True,
        ),
        Row(
            SECTION,
            "the arguments of a search",
            _milliseconds(lambda: [scrubber.arguments(QUERY) for _ in range(CALLS)]) / CALLS * 1000,
            "µs",
            note="text of 30 characters, a number and a nested list",
        ),
    ]


def _milliseconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return (perf_counter() - started) * 1000


def _diff(random: Random, *, with_secret: bool) -> str:
    """A unified diff of whole files, cut at ``SIZE`` characters."""
    files = sorted((_ROOT / "gateway").rglob("*.py"))
    parts = [_hunk("package-lock.json", [_locked(random) for _ in range(20)])]
    while sum(map(len, parts)) < SIZE:
        path = random.choice(files)
        parts.append(_hunk(path.relative_to(_ROOT).as_posix(), path.read_text().splitlines()))
    if with_secret:
        parts.insert(1, _hunk(".env", [f"GITHUB_TOKEN={made('ghp_{alnum:36}', random)}"]))
    return "".join(parts)[:SIZE]


def _locked(random: Random) -> str:
    return GENERATED[random.choice(["package lock", "resolved", "yarn lock"])](random)


def _hunk(name: str, added: Sequence[str]) -> str:
    text = "".join(f"+{line}\n" for line in added)
    head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n"
    return f"{head}@@ -0,0 +1,{len(added)} @@\n{text}"
