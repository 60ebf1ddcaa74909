"""Asks GitHub again where it does not answer (knowledge server specification, section 5.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway.repositories.errors import SourceFailed
from gateway.toolkit import retry

Result = TypeVar("Result")


class Retry(retry.Retry):
    """How often one request is made again, and when; what GitHub's Retry-After says counts."""

    async def ask(self, request: Callable[[], Awaitable[Result]]) -> Result:
        """Make a request until it is answered, or the retries are spent.

        Raises:
            SourceFailed: it is refused for good, or GitHub does not answer.
        """
        try:
            return await self(request, _retry_after)
        except TimeoutError:
            what = f"GitHub did not answer within {self.timeout_s:g} seconds."
            raise SourceFailed("UPSTREAM_ERROR", what, transient=True) from None


def _retry_after(failure: Exception) -> float | None:
    """After how many seconds GitHub wants to be asked again, if it says so."""
    if isinstance(failure, TimeoutError):
        return None
    if isinstance(failure, SourceFailed) and (failure.transient or failure.retry_after is not None):
        return failure.retry_after
    raise failure
