from typing import Any

import structlog

from plugins.knowledge.memory.model.entry import Layer
from plugins.knowledge.memory.store.failure_log import LOG_INTERVAL_S, FailureLog


def test_a_layers_failures_are_logged_once_a_minute_and_with_its_name() -> None:
    now, began, error = [0.0], 1000.0, KeyError("gone")
    logger: Any = structlog.get_logger()
    with structlog.testing.capture_logs() as lines:
        failed = FailureLog(logger, lambda: now[0])
        for at, layer in [
            (0.0, Layer.USER),
            (1.0, Layer.USER),
            (1.0, Layer.SESSION),
            (LOG_INTERVAL_S, Layer.USER),
        ]:
            now[0] = began + at
            failed(layer, error)
    assert [line["layer"] for line in lines] == ["user", "session", "user"]
    assert all(line["event"] == "memory layer failed" for line in lines)
    assert all(line["exc_info"] is error for line in lines)
