from gateway.observability.metrics import Metrics
from gateway.observability.recent_traffic import SAMPLE_SECONDS, LastMinute


async def test_calls_of_the_last_minute_are_summed_and_older_ones_forgotten() -> None:
    now = 0.0
    metrics = Metrics(lambda _: True)
    minute = LastMinute(metrics, clock=lambda: now)

    async def pass_time(seconds: float) -> None:
        nonlocal now
        for _ in range(round(seconds / SAMPLE_SECONDS)):
            now += SAMPLE_SECONDS
            await minute.sample()

    for outcome in ("ok", "ok", "not_allowed"):
        metrics.observe("search", "tool", "open", outcome, 0.5, 10)
    await pass_time(30)
    metrics.observe("search", "tool", "open", "ok", 2.0, 10)
    recent = minute.recent()
    assert (recent.seconds, recent.outcomes.total()) == (30, 4)
    assert recent.outcomes == {"ok": 3, "not_allowed": 1}
    assert recent.calls_seconds == 3.5
    await pass_time(55)
    recent = minute.recent()
    assert (recent.seconds, recent.outcomes) == (60, {"ok": 1})
    await pass_time(60)
    assert minute.recent().outcomes.total() == 0


def test_before_any_time_has_passed_nothing_is_divided_by_it() -> None:
    recent = LastMinute(Metrics(lambda _: True), clock=lambda: 1.0).recent()
    assert (recent.seconds, recent.outcomes.total()) == (0, 0)
