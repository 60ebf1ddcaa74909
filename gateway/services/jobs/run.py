"""A job that runs, as its own code sees it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from gateway.services.jobs.lease import Lease
from gateway.services.jobs.progress import Progress, ProgressBoard
from gateway.toolkit.spans import span

__all__ = ["Run", "as_json"]


@dataclass(frozen=True, slots=True)
class Run:
    """A job that runs: the port ``JobRun``."""

    id: str
    board: ProgressBoard
    lease: Lease

    async def step(self, name: str, function: Any, *args: Any) -> Any:
        """Run ``await function(*args)`` once; a restart returns the recorded result instead.

        Raises:
            TypeError: the result is not JSON.
        """
        from dbos import DBOS

        async def recorded() -> Any:
            # A replica that was paused must not begin what another one may be doing by now.
            await self.lease.hold()
            # Through JSON at once, so that the first run sees just what a later one would.
            with span(f"step {name}"):
                return as_json(await function(*args), f"The result of step {name!r}")

        return await DBOS.run_step_async({"name": name}, recorded)

    def progress(self, done: int, total: int = 0, message: str = "") -> None:
        """Say how far the job is, as often as it likes; returns at once."""
        self.board.report(self.id, Progress(done, total, message))


def as_json(value: Any, what: str) -> Any:
    """A value as it is read back from JSON.

    Args:
        value: JSON, or not.
        what: the value in the words of an error.

    Raises:
        TypeError: the value is not JSON.
    """
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} is not JSON: {error}.") from error
