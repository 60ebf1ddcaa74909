"""What becomes of DBOS's warnings."""

import logging
import traceback

import pytest
from sqlalchemy.exc import OperationalError

from gateway.services.jobs.log import OUTAGE_QUIET_SECONDS, JobsLog
from tests.auth.clocks import Clock

NAME = "tests.dbos"  # DBOS's own is made quiet by every service that closes


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def written(clock):
    lines = []

    class Written(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())

    logger = logging.getLogger(NAME)
    handler, filter_ = Written(), JobsLog(clock)
    logger.setLevel(logging.WARNING)  # a command that ran in this process may have asked for less
    logger.addHandler(handler)
    logger.addFilter(filter_)
    yield lines
    logger.removeHandler(handler)
    logger.removeFilter(filter_)


def outage():
    try:
        raise OperationalError("SELECT secret", {"payload": "hunter2"}, OSError("port 5432 failed"))
    except OperationalError:
        return traceback.format_exc()


def warn(text):
    logging.getLogger(NAME).warning(text)


def test_an_outage_is_one_line_without_a_traceback(written, clock):
    for _ in range(3):
        warn(f"Exception polling schedules: {outage()}")
        warn("Exception listing queues: (psycopg.OperationalError) connection failed")
        warn("Notification listener error: consuming input failed")
        warn("Database connection failed: the server closed it. Retrying in 1.00s (attempt 1)")
        clock.pass_(30)
    assert written == [
        "The database of the jobs does not answer (OperationalError). Jobs wait until it does."
    ]


def test_the_next_outage_is_told_again(written, clock):
    warn(f"Exception polling schedules: {outage()}")
    clock.pass_(OUTAGE_QUIET_SECONDS)
    warn("Database connection failed: gone. Retrying in 1.00s (attempt 1)")
    assert len(written) == 2


def test_another_error_is_told_by_its_kind_every_time(written):
    try:
        raise KeyError("hunter2")
    except KeyError:
        said = f"Exception in schedule 'knowledge/sync': {traceback.format_exc()}"
    warn(said)
    warn(said)
    assert written == ["Exception in schedule 'knowledge/sync': KeyError"] * 2


def test_what_is_no_error_is_told_as_it_is(written):
    warn("Queue 100% full of 3 jobs")
    assert written == ["Queue 100% full of 3 jobs"]
