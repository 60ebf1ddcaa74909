"""What a server's circuit breaker promises, whatever the order of what happens to its calls."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from plugins.upstreams.servers.state import (
    FAILURES_IN_A_ROW,
    MAX_RETRY_AFTER_SECONDS,
    TROUBLED,
    State,
)

# Whole seconds, whose sums are exact.
WHOLE_SECONDS = st.integers(0, int(2 * MAX_RETRY_AFTER_SECONDS)).map(float)


class BreakerPromises(RuleBasedStateMachine):
    """It opens after a run of failures or an unreachable server, and any success closes it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.state = State(clock=lambda: self.now)
        self.run_of_failures = 0
        self.is_open = False
        self.wished = 0.0

    @rule()
    def answers(self) -> None:
        self.state.answered()
        self.run_of_failures, self.is_open, self.wished = 0, False, 0.0

    @rule(status=st.sampled_from(sorted(TROUBLED)), wait=WHOLE_SECONDS)
    def is_in_trouble(self, status: int, wait: float) -> None:
        self.wish(wait)
        self.one_more(self.state.refused(status, wait))

    @rule()
    def has_no_answer_in_time(self) -> None:
        self.one_more(self.state.timed_out(1.0))

    @rule(status=st.sampled_from([400, 404, 405, 409, 429, 501]))
    def refuses_one_call(self, status: int) -> None:
        assert not self.state.refused(status, 60.0)

    @rule(wait=WHOLE_SECONDS)
    def cannot_be_reached(self, wait: float) -> None:
        self.wish(wait)
        assert self.state.failed("It is gone.", wait) is not self.is_open
        self.is_open = True

    @rule(seconds=WHOLE_SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    def one_more(self, is_news: bool) -> None:
        self.run_of_failures += 1
        opens = not self.is_open and self.run_of_failures >= FAILURES_IN_A_ROW
        assert is_news is opens
        self.is_open = self.is_open or opens

    def wish(self, wait: float) -> None:
        self.wished = max(self.wished, self.now + min(wait, MAX_RETRY_AFTER_SECONDS))

    @invariant()
    def is_open_exactly_when_promised(self) -> None:
        assert self.state.is_down is self.is_open
        assert bool(self.state.reason) is self.is_open

    @invariant()
    def probes_wait_as_long_as_was_asked_and_no_longer_than_the_most(self) -> None:
        left = max(0.0, self.wished - self.now) if self.is_open else 0.0
        assert self.state.pause == left <= MAX_RETRY_AFTER_SECONDS


TestBreaker = BreakerPromises.TestCase
