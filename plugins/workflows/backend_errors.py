"""What fails below the playbook, in words for whoever called: its database, its files, a row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from gateway.contract import Host, ToolFailed, is_outage
from plugins.workflows import errors

Run = Callable[..., Awaitable[Any]]


class BackendErrors:
    """Tells callers of an outage, which the portal would hide as an internal error.

    Args:
        host: knows the call that is running, and has a log.
    """

    def __init__(self, host: Host) -> None:
        self._host = host

    def explained(self, run: Run) -> Run:
        """A function whose outages and damaged rows are errors that a model can read."""

        async def explained(*given: Any) -> Any:
            try:
                return await run(*given)
            except Exception as error:
                failed = self._failed(error)
                if failed is None:
                    raise
                raise failed from error

        return explained

    def _failed(self, error: Exception) -> ToolFailed | None:
        if isinstance(error, errors.Damaged):
            self._host.log.error("workflows_damaged", reason=str(error))
            return errors.damaged(self._host.exchange().request_id)
        if is_outage(error):
            # Without its traceback: nothing in it is ours.
            self._host.log.error("workflows_outage", reason=f"{type(error).__name__}: {error}")
            return errors.unavailable(self._host.exchange().request_id)
        return None
