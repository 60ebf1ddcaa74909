"""What every test may ask for: real data and real services, or a visible reason to skip.

A user's machine may lack them, so a test that needs one skips and says which variable would run
it. In CI nothing may be skipped for that reason: there such a skip is a failure.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import random
import re
import signal
import tempfile
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import httpx2
import pytest

from tests.examples import IS_THOROUGH, load_profile

load_profile()

# A shell has what it begins in the background ignore Ctrl+C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# All that is loaded while tests are collected stays until the end, where it need not be looked at.
gc.disable()
atexit.register(gc.freeze)

_GC_THRESHOLD_OBJECTS = 10_000
"""At Python's 700, a test that makes many objects spends a third of its time on collections."""

PREFIX = "PORCH_TEST_"
IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run every async test on asyncio, the loop that the portal runs on."""
    return "asyncio"


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Commands set logging up for their process; put it back for the tests'."""
    import structlog

    from gateway.observability.logs import _LIBRARIES

    loggers = [logging.getLogger(name) for name in (None, *_LIBRARIES)]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    configured = structlog.get_config()
    yield
    if structlog.get_config() == configured:
        return
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def secrets_as_before() -> Iterator[None]:
    """Forget the secrets of a test's portals: every text is searched for all that are known."""
    from gateway.observability.redaction import redactor

    before = dict(vars(redactor))
    yield
    vars(redactor).update(before)


@pytest.fixture(autouse=True)
def chance_as_before(request: pytest.FixtureRequest) -> None:
    """In CI, what a test draws by chance is the same each time; elsewhere it is new."""
    if IN_CI and not IS_THOROUGH:
        random.seed(request.node.nodeid)


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The directory of real data sets, such as ``civic-kb``, from ``PORCH_TEST_DATA``."""
    directory = Path(_setting("PORCH_TEST_DATA", "the directory of real data sets"))
    assert directory.is_dir(), f"PORCH_TEST_DATA names {directory}, which is no directory."
    return directory


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """A PostgreSQL database as an SQLAlchemy URL, from ``PORCH_TEST_POSTGRES``."""
    return _setting("PORCH_TEST_POSTGRES", "an SQLAlchemy URL of a PostgreSQL test database")


@pytest.fixture(scope="session")
def redis_url() -> str:
    """A Redis database that tests may fill, from ``PORCH_TEST_REDIS``."""
    return _setting("PORCH_TEST_REDIS", "the URL of a Redis database that tests may fill")


@pytest.fixture(scope="session")
def pgvector_url() -> Iterator[str]:
    """The URL of a PostgreSQL with pgvector, which is started once for each worker."""
    from tests.servers.pgvector import pgvector_server

    with tempfile.TemporaryDirectory(prefix="pv") as folder, pgvector_server(Path(folder)) as url:
        yield url


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The URL of an S3 server on loopback."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a prefix in an empty bucket; the environment leads to its server."""
    name = f"porch-{uuid.uuid4().hex}"
    httpx2.put(f"{s3_server}/{name}").raise_for_status()
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "example")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example-secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return f"s3://{name}/below"


@pytest.fixture
async def postgres(postgres_url: str) -> AsyncIterator[str]:
    """The ``postgresql://`` URL of an empty database, dropped at the end of the test."""
    async with new_database(postgres_url) as url:
        yield url


@asynccontextmanager
async def new_database(server: str, options: str = "") -> AsyncGenerator[str]:
    """Make a PostgreSQL database for as long as the block lasts.

    Args:
        server: the URL of a database on the same server.
        options: of ``CREATE DATABASE``.
    """
    import asyncpg

    server = server.replace("+asyncpg", "")
    name = f"porch_{uuid.uuid4().hex}"
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f'CREATE DATABASE "{name}" {options}')
        # A commit need not reach the disk: what a power cut would lose, no test looks for.
        await connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
        yield f"{server.rpartition('/')[0]}/{name}"
        await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await connection.close()


def _setting(name: str, meaning: str) -> str:
    value = os.environ.get(name)
    if not value:
        pytest.skip(f"{name} is not set: give {meaning} to run this test.")
    return value


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is repeated, and begin with what takes long.

    So no worker is left alone with it at the end.
    """
    if not IS_THOROUGH:
        repeated = _repeated(items)
        config.hook.pytest_deselected(items=list(repeated))
        items[:] = [item for item in items if item not in repeated]
    limits: dict[Path, float] = {}
    for item in items:
        if item.get_closest_marker("heavy"):
            limits[item.path] = max(_limit(item), limits.get(item.path, 0))
    items.sort(key=lambda item: -limits.get(item.path, -1))


def pytest_collection_finish() -> None:
    """Have the garbage collector look at what the tests make, and not again at the tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD_OBJECTS)
    gc.enable()


def _limit(item: pytest.Item) -> float:
    """Seconds that a test may take, which is the longer, the longer it takes."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0] if marker else item.config.getini("timeout") or 0)


def _repeated(items: list[pytest.Item]) -> set[pytest.Item]:
    """Tests marked ``one_database`` on PostgreSQL that run on SQLite too."""
    known = {item.nodeid for item in items}
    found = set()
    for item in items:
        name, _, variant = item.nodeid.rpartition("[")
        twin = f"{name}[{re.sub(r'postgres(ql)?', 'sqlite', variant)}"
        if item.get_closest_marker("one_database") and twin != item.nodeid and twin in known:
            found.add(item)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Refuse, in CI, a test's skip that a ``PORCH_TEST_`` variable would have prevented."""
    if call.excinfo:
        _number_lines(call.excinfo.value)
    report = yield
    return _refuse_skip(report) if IN_CI else report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse, in CI, the same skip of a whole file."""
    report = yield
    return _refuse_skip(report) if IN_CI else report


def _refuse_skip(report: Report) -> Report:
    if report.skipped and PREFIX in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"CI runs every test, yet this one was skipped: {report.longrepr}"
    return report


def _number_lines(error: BaseException | None) -> None:
    """Give every entry of an error's traceback a line.

    An instruction that Python made up has none, and pytest reckons with it: the whole session
    would end there. The line on which its function begins stands in.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        entry = error.__traceback__
        while entry is not None and (following := entry.tb_next) is not None:
            if following.tb_lineno is None:
                frame = following.tb_frame
                line = frame.f_code.co_firstlineno
                entry.tb_next = TracebackType(following.tb_next, frame, following.tb_lasti, line)
            entry = entry.tb_next
        error = error.__cause__ or error.__context__
