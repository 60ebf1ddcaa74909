"""A queue of jobs that takes none for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from dbos import DBOS


@contextmanager
def taking_no_jobs() -> Iterator[None]:
    """Within, nothing can be queued: the jobs' database is away."""

    async def away(*_: Any, **__: Any) -> None:
        raise ConnectionError("the database is away")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DBOS, "enqueue_workflow_async", away)
        yield
