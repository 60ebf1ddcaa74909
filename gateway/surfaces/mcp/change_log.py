"""The changes of late, numbered, so that a legacy client can say which it has heard of.

Each process numbers what it hears. A client that comes back to another process, or after too many
changes, is told that everything may have changed: no news is lost, and some are told in vain.
"""

from __future__ import annotations

import re
import secrets
from collections import deque
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from gateway.contract import Change
from gateway.surfaces.mcp.sse import encoded, event

MAX_CHANGES = 4096
"""Changes that one process remembers."""

LISTS: tuple[Literal["tools", "prompts", "resources"], ...] = ("tools", "prompts", "resources")
"""The kinds of lists that may change."""

_ID = re.compile(r"n-([0-9a-f]{12})-([0-9]{1,18})", re.ASCII)


class News(NamedTuple):
    """A change.

    Attributes:
        number: its place among the changes that this process has heard of, from 1 on.
        change: what has changed.
        id: what a client names it by.
    """

    number: int
    change: Change
    id: str


class Chronicle:
    """Numbers changes, and remembers the newest.

    Attributes:
        newest: the number of the last change; 0 where there was none.
    """

    def __init__(self) -> None:
        self._process = secrets.token_hex(6)
        self._news: deque[News] = deque()
        self._forgotten = 0
        self.newest = 0

    def add(self, change: Change) -> News:
        """Number a change."""
        number = self.skip()
        news = News(number, change, self.id(number))
        self._news.append(news)
        if len(self._news) > MAX_CHANGES:
            self._forgotten = self._news.popleft().number
        return news

    def skip(self) -> int:
        """A number of no change, which tells who has heard of what was told under it."""
        self.newest += 1
        return self.newest

    def id(self, number: int) -> str:
        """What a client that has heard of everything up to a number says."""
        return f"n-{self._process}-{number}"

    def heard(self, event_id: str) -> int | None:
        """The number up to which a client has heard of everything that is still remembered.

        Returns:
            None where that cannot be told.
        """
        match = _ID.fullmatch(event_id)
        if match is None or match[1] != self._process:
            return None
        number = int(match[2])
        return number if self._forgotten <= number <= self.newest else None

    def after(self, number: int) -> list[News]:
        """The changes after a number that :meth:`heard` gave."""
        return [each for each in self._news if each.number > number]


def message(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON-RPC notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def notification(change: Change) -> tuple[str, dict[str, Any]]:
    """The method and the parameters of the notification that tells of a change."""
    if change.kind == "resource":
        return "notifications/resources/updated", {"uri": change.uri}
    return f"notifications/{change.kind}/list_changed", {}


@lru_cache(maxsize=16)
def written(news: News) -> bytes:
    """News as legacy clients are told them, written out once for all."""
    return event(encoded(message(*notification(news.change))), news.id)


def everything(followed: Iterable[str], event_id: str) -> list[bytes]:
    """What tells a legacy client that all it knows may have changed.

    Args:
        followed: the URIs of the resources that it follows.
        event_id: from where the client goes on that has had all of it, and only then.
    """
    changes = [Change("", "resource", uri) for uri in followed]
    changes += [Change("", kind) for kind in LISTS]
    *before, last = [encoded(message(*notification(each))) for each in changes]
    return [*map(event, before), event(last, event_id)]
