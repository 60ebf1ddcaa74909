"""A person's connections to accounts of theirs elsewhere, which a plugin makes and uses.

Plugins reach these names through :mod:`gateway.contract`. The portal has the pages: it lists
connections on ``/account``, sends people away and takes them back, and sees to it that who comes
back is who went. The plugin knows the other side, and keeps what it was given there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from auth import Caller
from auth.stores import digest
from gateway.contract.failures import ToolFailed

CONNECTION_NEEDED = "connection_needed"
"""The code of :class:`ConnectionNeeded`."""


@dataclass(frozen=True, slots=True)
class Connection:
    """How a person's connection is, as ``/account`` shows it.

    Attributes:
        name: what it is called: small letters, digits and hyphens, unique in the plugin.
        status: ``none`` where the person has not connected, ``connected``, or ``expired`` where
            the other side takes what is kept no longer, so that they have to connect anew.
        expires: when what is kept ends, where that is known.
        detail: one sentence for the person, such as why it is expired.
    """

    name: str
    status: Literal["none", "connected", "expired"]
    expires: datetime | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the portal is for a connection, as the other side is told.

    Attributes:
        callback: the portal's address to which the other side sends the browser back: one for each
            connection, so that an answer of one cannot pass for that of another.
        client: the address of the client metadata document that the portal serves for it
            (draft-ietf-oauth-client-id-metadata-document).
    """

    callback: str
    client: str


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a person's browser is sent.

    Attributes:
        url: the page of the other side.
        remembered: JSON values that are needed when the browser returns, such as the PKCE
            verifier. The portal keeps them sealed in that browser for ten minutes, bound to the
            person and the session, and hands them back once.
    """

    url: str
    remembered: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Connections:
    """How a plugin connects people. Each function may raise ``ToolFailed``, told to the person.

    Attributes:
        listed: ``await listed(caller)``; those that this caller may have, connected or not.
        begin: ``await begin(name, caller, place)``; where to send them.
        finish: ``await finish(name, caller, place, query, remembered)``; keeps what the answer in
            ``query`` gives. The portal has checked that the same person and browser come back.
        end: ``await end(name, caller)``; forgets what is kept.
    """

    listed: Callable[[Caller], Awaitable[Sequence[Connection]]]
    begin: Callable[[str, Caller, Place], Awaitable[Departure]]
    finish: Callable[[str, Caller, Place, Mapping[str, str], Mapping[str, Any]], Awaitable[None]]
    end: Callable[[str, Caller], Awaitable[None]]


class ConnectionNeeded(ToolFailed):
    """A call needs a connection that its caller has not got, or not any more.

    The portal adds the link to connect: as a URL elicitation where the client opens addresses for
    its person (MCP 2025-11-25 and later), else in the message.

    Args:
        connection: the connection's name.
        message: what is missing, for the model and the person.
    """

    def __init__(self, connection: str, message: str) -> None:
        super().__init__(CONNECTION_NEEDED, message, {"connection": connection})
        self.connection = connection
        self.url = self.purpose = ""

    def lead(self, base: str, plugin: str, caller: Caller) -> None:
        """Add the link to connect, once it is known whose call of which plugin it was.

        Args:
            base: the portal's address, as the caller sees it.
            plugin: the plugin.
            caller: who has to connect.
        """
        self.purpose = connect_purpose(plugin, self.connection, caller.person or "")
        query = {"connect": f"{plugin}/{self.connection}", "for": connect_mark(caller.person or "")}
        self.url = f"{base}/account?{urlencode(query)}"
        self.message = f"{self.message} Open {self.url} to connect, and then ask again."
        self.details["url"] = self.url


def connect_purpose(plugin: str, connection: str, person: str) -> str:
    """What a person who was led to a connection is to do; it does not say who that is."""
    return f"{plugin}/{connection} {connect_mark(person)}"


def connect_mark(person: str) -> str:
    """What a link to connect says of the person who is meant; it does not say who that is."""
    return digest(f"connect {person}")[:32]
