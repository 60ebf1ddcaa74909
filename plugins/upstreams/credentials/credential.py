"""The port: whose credential a request to a server carries, and the two kinds that all share."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from gateway.contract import Caller
from plugins.upstreams.credential_settings import filled
from plugins.upstreams.wire import Unauthorized, Unreachable

EVERYBODY = ""
"""The holder of a credential that is the same for every caller."""
REFUSED_TOLD_SECONDS = 600.0
"""For how long an admin is told that a server has refused a request."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """Why a server cannot be asked for somebody.

    Attributes:
        why: ``needed`` or ``expired``.
        reason: a sentence for whom it is about.
        link: where they connect.
    """

    why: Literal["needed", "expired"]
    reason: str
    link: str


class Credential(Protocol):
    """Says with which headers a server is asked."""

    def holder(self, caller: Caller) -> str:
        """Whose credential a caller's requests carry: a connection is made for each.

        Raises:
            ToolFailed: the caller has to connect first, and how.
        """
        ...

    async def lister(self) -> str:
        """Whose credential the server is asked with what it offers.

        Raises:
            ToolFailed: there is nobody's.
        """
        ...

    async def headers(self, holder: str) -> Mapping[str, str]:
        """The headers of a holder's next request.

        Raises:
            ToolFailed: the holder has to connect anew, and how.
        """
        ...

    async def lacking(self, caller: Caller) -> Lacking | None:
        """What a caller has to do before the server can be asked for them; None for nothing."""
        ...

    async def refused(self, holder: str, error: Unauthorized) -> bool:
        """The server has refused a holder's headers; whether others are worth a try now.

        Raises:
            ToolFailed: the holder has to connect anew, and how.
        """
        ...

    @property
    def trouble(self) -> str:
        """What an admin has to mend, to be read after the server's name; nothing where it works."""
        ...

    def forget(self, person: str) -> None:
        """Believe nothing of what is remembered of a person."""
        ...


class Shared:
    """No credential, or one of the operator's: the same headers for everybody.

    Args:
        header: the headers, in which ``${NAME}`` stands for what the environment holds.
        clock: seconds that never go back.
    """

    def __init__(
        self, header: Mapping[str, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._header = header
        self._clock = clock
        self._refused: tuple[float, str] | None = None

    def holder(self, caller: Caller) -> str:
        """Everybody's."""
        return EVERYBODY

    async def lister(self) -> str:
        """Everybody's."""
        return EVERYBODY

    async def headers(self, holder: str) -> Mapping[str, str]:
        """The same for all.

        Raises:
            Unreachable: the environment lacks a variable.
        """
        return with_variables(self._header)

    async def lacking(self, caller: Caller) -> Lacking | None:
        """Nothing: it is the operator's."""
        return None

    async def refused(self, holder: str, error: Unauthorized) -> bool:
        """There are no others, so an admin is told."""
        carried = "with its credential in portal.yaml" if self._header else "without a credential"
        lacks = ", insufficient_scope" * (error.bearer.get("error") == "insufficient_scope")
        told = f"has refused a request {carried} (HTTP {error.status}{lacks})"
        self._refused = self._clock(), told
        return False

    @property
    def trouble(self) -> str:
        """That a call was refused a short while ago."""
        at, told = self._refused or (0.0, "")
        return told if told and self._clock() - at < REFUSED_TOLD_SECONDS else ""

    def forget(self, person: str) -> None:
        """Nothing is of one person."""


def with_variables(texts: Mapping[str, str]) -> dict[str, str]:
    """Texts with what the environment holds.

    Raises:
        Unreachable: it lacks a variable, which is named.
    """
    try:
        return {name: filled(text, os.environ) for name, text in texts.items()}
    except KeyError as missing:
        raise Unreachable(f"the environment has no {missing.args[0]}") from None
