from __future__ import annotations

import asyncio
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from gateway.observability.metrics import Metrics
from gateway.observability.workers import Workers, WorkerState, merged

Sample = tuple[str, tuple[tuple[str, str], ...], float]
NAMES = st.sampled_from(["look", "with space", 'quo"te', "brace}{", "new\nline", "back\\slash", ""])


def samples(text: str) -> list[Sample]:
    return [
        (sample.name, tuple(sorted(sample.labels.items())), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]


def scraped(items: list[str]) -> str:
    metrics = Metrics(lambda _: True)
    for item in items:
        metrics.observe(item, "tool", "open", "ok", 0.01, 10)
    return metrics.render().decode()


@given(st.dictionaries(st.integers(1, 5), st.lists(NAMES, max_size=4), min_size=1))
def test_no_workers_figure_is_lost_or_mixed_up(workers: dict[int, list[str]]) -> None:
    texts = {number: scraped(items) for number, items in workers.items()}
    own = {
        (name, tuple(sorted((*labels, ("worker", str(number))))), value)
        for number, text in texts.items()
        for name, labels, value in samples(text)
    }
    together = samples(merged(texts))
    assert len(together) == len(set(together))
    up = {("porch_worker_up", (("worker", str(number)),), 1.0) for number in workers}
    assert set(together) == own | up


def test_each_family_stands_once_with_all_its_samples() -> None:
    text = merged({1: scraped(["look"]), 2: scraped(["look"])})
    heads = [line for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))
    assert text.index('porch_calls_total{worker="2"') < text.index("# HELP porch_call_seconds")


def test_a_worker_that_gives_no_figures_is_down() -> None:
    text = merged({1: scraped([]), 2: None})
    assert 'porch_worker_up{worker="1"} 1.0' in text
    assert 'porch_worker_up{worker="2"} 0.0' in text


def state(number: int, **values: object) -> WorkerState:
    base: WorkerState = {
        "number": number,
        "process": 10,
        "state": "serving",
        "restarts": 0,
        "ended": "",
        "ended_at": 0.0,
    }
    return base | values  # type: ignore[return-value]


def test_health_tells_of_who_is_down_and_who_was() -> None:
    workers = Workers(1, lambda _: Path())
    killed = "killed by SIGKILL"
    workers.table = [
        state(1),
        state(2, state="dead", restarts=1, ended=killed, ended_at=time.time()),
        state(3, restarts=2, ended=killed, ended_at=time.time() - 60),
        state(4, restarts=2, ended=killed, ended_at=time.time() - 7200),
    ]
    down, was = workers.notices()
    assert "Worker 2 is down (killed by SIGKILL)" in down
    assert "Worker 3 has died 2 times" in was


def test_a_worker_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    workers = Workers(1, lambda number: tmp_path / f"{number}.sock")
    workers.table = [state(1), state(2)]
    assert asyncio.run(workers.others("/metrics")) == {2: None}
