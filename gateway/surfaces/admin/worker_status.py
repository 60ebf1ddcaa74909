"""What several workers do, as one status: whoever is asked asks the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.observability.workers import Workers

_WORST = ("failed", "degraded", "starting", "ok")
"""States of a plugin, the worst first."""


async def of_all(own: dict[str, Any], workers: Workers) -> dict[str, Any]:
    """The status of all workers: calls and streams are summed, each plugin's worst state is told.

    Args:
        own: this worker's status.
        workers: all of them.
    """
    texts = await workers.others("/admin/status")
    found = {number: json.loads(text) for number, text in texts.items() if text is not None}
    found[workers.number] = own
    answered = [found[number] for number in sorted(found)]
    rates = {number: each["calls"]["per_second"] for number, each in found.items()}
    listed = [{**each, "calls_per_second": rates.get(each["number"])} for each in workers.table]
    return own | {
        "calls": _calls([each["calls"] for each in answered]),
        "streams": {
            kind: sum(each["streams"].get(kind, 0) for each in answered) for kind in own["streams"]
        },
        "plugins": [_plugin(name, found) for name in (each["name"] for each in own["plugins"])],
        "notices": list(dict.fromkeys(n for each in answered for n in each["notices"])),
        "lately": _lately(found),
        "workers": listed,
    }


def _lately(found: Mapping[int, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What happened to each worker, in the order of time."""
    every = [
        {**event, "said": f"Worker {number}: {event['said']}"}
        for number, status in found.items()
        for event in status.get("lately", ())  # one that is not restarted yet has none
    ]
    return sorted(every, key=lambda each: str(each["at"]))


def _calls(calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    outcomes: Counter[str] = sum((Counter(each["outcomes"]) for each in calls), Counter())
    number = outcomes.total()
    spent = sum(each["mean_milliseconds"] * each["calls"] for each in calls)
    return {
        "seconds": max(each["seconds"] for each in calls),
        "calls": number,
        "per_second": round(sum(each["per_second"] for each in calls), 2),
        "mean_milliseconds": round(spent / number, 1) if number else 0.0,
        "at_once": sum(each["at_once"] for each in calls),
        "loop_lag_milliseconds": max(each["loop_lag_milliseconds"] for each in calls),
        "outcomes": dict(outcomes.most_common()),
    }


def _plugin(name: str, found: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """A plugin as it is where it is worst; the detail says in which worker."""
    states = {
        number: plugin
        for number, status in sorted(found.items())
        for plugin in status["plugins"]
        if plugin["name"] == name
    }
    number = min(states, key=lambda each: _WORST.index(states[each]["state"]))
    worst: dict[str, Any] = states[number]
    if len({each["state"] for each in states.values()}) > 1:
        worst = worst | {"detail": f"In worker {number}: {worst['detail']}".strip()}
    return worst
