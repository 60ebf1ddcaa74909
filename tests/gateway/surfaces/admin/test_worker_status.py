from __future__ import annotations

import json
from typing import Any

from gateway.observability.workers import Workers
from gateway.surfaces.admin.worker_status import of_all


def status(calls: int, mean: float, plugin: str, detail: str = "") -> dict[str, Any]:
    return {
        "name": "Porch",
        "calls": {
            "seconds": 60.0,
            "calls": calls,
            "per_second": calls / 60,
            "mean_milliseconds": mean,
            "at_once": 1,
            "loop_lag_milliseconds": calls,
            "outcomes": {"ok": calls},
        },
        "streams": {"mcp": 2, "rest": 0, "sessions": calls},
        "plugins": [{"name": "garden", "state": plugin, "detail": detail}],
        "notices": ["Both say so.", f"{calls} says so."],
        "lately": [
            {"at": f"2026-01-01T00:{calls % 60:02}:00+00:00", "said": "It fell.", "times": 1}
        ],
    }


class Two(Workers):
    """Worker 1 of two, whose other one answers with what it is given."""

    def __init__(self, other: dict[str, Any] | None) -> None:
        super().__init__(1, lambda _: None)  # type: ignore[arg-type,return-value]
        self._other = other
        self.table = [
            {
                "number": number,
                "process": number,
                "state": "serving",
                "restarts": 0,
                "ended": "",
                "ended_at": 0.0,
            }
            for number in (1, 2)
        ]

    async def others(self, path: str) -> dict[int, Any]:
        return {2: None if self._other is None else json.dumps(self._other)}


async def test_one_status_speaks_for_all() -> None:
    found = await of_all(status(60, 10, "ok"), Two(status(120, 40, "failed", "It fell.")))
    assert found["calls"]["calls"] == 180
    assert found["calls"]["per_second"] == 3
    assert found["calls"]["mean_milliseconds"] == 30
    assert found["calls"]["outcomes"] == {"ok": 180}
    assert found["streams"] == {"mcp": 4, "rest": 0, "sessions": 180}
    assert found["plugins"] == [
        {"name": "garden", "state": "failed", "detail": "In worker 2: It fell."}
    ]
    assert found["notices"] == ["Both say so.", "60 says so.", "120 says so."]
    assert [each["calls_per_second"] for each in found["workers"]] == [1, 2]
    told = await of_all(status(61, 10, "ok"), Two(status(120, 40, "ok")))
    assert [each["said"] for each in told["lately"]] == ["Worker 2: It fell.", "Worker 1: It fell."]


async def test_who_does_not_answer_is_listed_without_figures() -> None:
    found = await of_all(status(60, 10, "ok"), Two(None))
    assert found["calls"]["calls"] == 60
    assert [each["calls_per_second"] for each in found["workers"]] == [1, None]
