"""Legacy clients hear when the link that a call had them open has done what it is for.

The call may run on one replica, the browser come to another, and the client's stream be open at a
third: each replica hears who was asked to open what, and when that is done.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from auth.sealer import Sealer
from gateway.contract import Cache
from gateway.observability.logs import get_logger
from gateway.surfaces.mcp.change_log import message
from gateway.surfaces.mcp.relay import opened
from gateway.surfaces.mcp.sessions import Session

MAX_ASKED = 10_000
"""Questions that one process remembers; the oldest is forgotten first."""
MAX_ID_CHARACTERS = 200
"""Characters of a question's id; who is asked under a longer one is not told."""
LIFETIME_SECONDS = 3600.0
"""Seconds for which what replicas tell each other is believed."""
_CHANNEL = "mcp-elicitations"

log = get_logger(__name__)


class _Question(NamedTuple):
    """A question; servers choose ids that are their own alone, and not the only ones.

    Attributes:
        session: the mark of whose client is asked.
        id: what the client knows it by.
    """

    session: str
    id: str


class Elicitations:
    """The questions to open a link that wait for what is done there (MCP 2025-11-25, "URL Mode").

    Args:
        key: seals what replicas tell each other; the same on all of them.
        cache: carries it.
        sessions: the legacy sessions that this process holds, by their ids.
    """

    def __init__(self, key: bytes, cache: Cache, sessions: Mapping[str, Session]) -> None:
        self._sealer = Sealer(key, "mcp-elicitations")
        self._cache = cache
        self._sessions = sessions
        self._asked: OrderedDict[_Question, str] = OrderedDict()
        self._telling: set[asyncio.Task[None]] = set()

    def ask(self, session: Session, what: str) -> str:
        """Remember that a session's client is asked to open a link.

        Args:
            session: whose client.
            what: what will be done there, and by whom, as :meth:`complete` is told it.

        Returns:
            The id of the question.
        """
        question = secrets.token_urlsafe(16)
        self._tell({"id": question, "session": session.mark, "what": what})
        return question

    def asked(self, session: Session, question: str) -> Callable[[], None]:
        """Remember a question that another server has a session's client asked.

        Args:
            session: whose client.
            question: the id, which the server has chosen.

        Returns:
            What to call when it is done.
        """
        if len(question) > MAX_ID_CHARACTERS:
            return lambda: None
        what = secrets.token_urlsafe(16)
        self._tell({"id": question, "session": session.mark, "what": what})
        return lambda: self.complete(what)

    def complete(self, what: str) -> None:
        """Tell all clients who were asked for it that something is done."""
        self._tell({"what": what})

    async def listen(self) -> None:
        """Hear what is asked and done here and at other replicas, until cancelled."""
        async with self._cache.listen(_CHANNEL) as messages:
            async for told in opened(self._sealer, _CHANNEL, messages):
                self._take(told)

    def _tell(self, told: Mapping[str, Any]) -> None:
        sealed = self._sealer.seal(told, LIFETIME_SECONDS, _CHANNEL).encode()
        task = asyncio.get_running_loop().create_task(self._cache.publish(_CHANNEL, sealed))
        self._telling.add(task)
        task.add_done_callback(self._told)

    def _told(self, task: asyncio.Task[None]) -> None:
        self._telling.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("elicitation_not_passed_on", reason=str(error))

    def _take(self, told: Mapping[str, Any]) -> None:
        if question := told.get("id"):
            self._asked[_Question(told["session"], question)] = told["what"]
            while len(self._asked) > MAX_ASKED:
                self._asked.popitem(last=False)
            return
        found = [each for each, what in self._asked.items() if what == told["what"]]
        marked = {each.mark: each for each in self._sessions.values()} if found else {}
        for each in found:
            del self._asked[each]
            if (session := marked.get(each.session)) is not None:
                session.tell(completed(each.id))


def completed(question: str) -> dict[str, Any]:
    """The notification that a question is answered by what was done at its link."""
    return message("notifications/elicitation/complete", {"elicitationId": question})
