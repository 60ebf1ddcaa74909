"""Why a repository, or a file of one, cannot be read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from gateway.contract.failures import ToolFailed

Code = Literal["UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND", "UPSTREAM_ERROR", "INVALID_PATH"]

_OF_STATUS: dict[int, Code] = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is, as errors name it.

    Attributes:
        repo: the repository, as ``owner/repo`` or the name of the directory.
        path: from the repository's root.
        branch: the branch or the commit, where there is one.
    """

    repo: str | None = None
    path: str | None = None
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Advice:
    """What errors tell the portal's admin to change, as the plugin's own section spells it.

    Attributes:
        credential: where nobody's credential does not suffice.
        largest: the setting that says how large a file may be.
    """

    credential: str = "give one (github.token or github.app)"
    largest: str = "max_file"


ADVICE = Advice()
"""The name that most plugins' sections use."""


class SourceFailed(ToolFailed):
    """A file, or a whole repository, that cannot be read, or a path that is not allowed.

    Args:
        code: one of five, for programs.
        message: what is wrong and what to do; it holds no credential.
        place: what could not be read.
        status: what GitHub answered, where it did.
        retry_after: seconds after which it is worth asking again, where GitHub said so.
        transient: whether the file may well be there: a copy that was read before still helps.
        said: GitHub's own words, by which one refusal is told from another; no part of the error.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        place: Place = Place(),
        *,
        status: int | None = None,
        retry_after: int | None = None,
        transient: bool = False,
        said: str = "",
    ) -> None:
        details: dict[str, Any] = {
            "repo": place.repo,
            "path": place.path,
            "branch": place.branch,
            "githubStatus": status,
            "retryAfter": retry_after,
        }
        super().__init__(code, message, {k: v for k, v in details.items() if v is not None})
        self.transient = transient
        self.said = said
        self._code: Code = code

    @property
    def retry_after(self) -> int | None:
        """Seconds after which to ask again, if GitHub said so."""
        seconds: int | None = self.details.get("retryAfter")
        return seconds

    @property
    def status(self) -> int | None:
        """GitHub's answer, if there was one."""
        status: int | None = self.details.get("githubStatus")
        return status

    def again(self) -> SourceFailed:
        """The same error, to be raised at another time."""
        failure = SourceFailed(self._code, self.message, transient=self.transient)
        failure.details = dict(self.details)
        return failure

    def advising(self, advice: str) -> SourceFailed:
        """The same error, whose message ends with what to do."""
        failure = SourceFailed(self._code, f"{self.message} {advice}", transient=self.transient)
        failure.details = dict(self.details)
        return failure


class TooLarge(SourceFailed):
    """A file that is larger than the portal serves.

    Args:
        message: what is wrong.
        place: the file.
        size: its bytes.
    """

    def __init__(self, message: str, place: Place, size: int) -> None:
        super().__init__("UPSTREAM_ERROR", message, place)
        self.size = size


def code_of(status: int) -> Code:
    """The code for an answer of GitHub's that is no success."""
    return _OF_STATUS.get(status, "UPSTREAM_ERROR")


def when(seconds: int, now: datetime | None = None) -> str:
    """When to try again: ``after 2026-11-21 14:02:11 UTC (in 42 seconds)``."""
    then = (now or datetime.now(UTC)) + timedelta(seconds=seconds)
    return f"after {then:%Y-%m-%d %H:%M:%S} UTC (in {seconds} second{'s' * (seconds != 1)})"
