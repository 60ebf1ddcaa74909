"""An OAuth client, whether it registered or publishes a metadata document."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

MAX_NAME_LENGTH = 80
"""Characters of a client's name."""


class UnknownClient(Exception):
    """There is no such client.

    Args:
        reason: why, for people.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RegistrationRefused(Exception):
    """A client cannot be registered (RFC 7591, section 3.2.2).

    Args:
        error: the error code, ``invalid_redirect_uri`` or ``invalid_client_metadata``.
        reason: what is wrong, for the client's developer.
    """

    def __init__(self, error: str, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """An OAuth client.

    Attributes:
        client_id: its id, an https address where it has a metadata document.
        name: what it calls itself, fit to be shown; anyone may choose any name.
        redirect_uris: where its users may be sent back to, as it wrote them; never empty.
        method: how it authenticates at the token endpoint: ``none``, ``client_secret_post`` or
            ``client_secret_basic``.
        uri: its own page, on the host that publishes its metadata document, or None.
        secret: its secret, or None for a public client.
        secret_expires: when the secret ends, in seconds since the epoch.
    """

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    method: str = "none"
    uri: str | None = None
    secret: str | None = field(default=None, repr=False)
    secret_expires: int | None = None


def shown_name(name: object, instead: str) -> str:
    """A client's name as it may be shown: one line, nothing invisible, at most 80 characters.

    Args:
        name: what the client wrote.
        instead: what to call it if it wrote nothing that can be shown.
    """
    text = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    # Z: spaces of every kind. C: control and format characters, such as those that reverse the
    # direction of text, and unassigned ones.
    spaced = "".join(" " if _kind(each) == "Z" or each in "\t\n\r" else each for each in text)
    visible = "".join(each for each in spaced if _kind(each) != "C")
    return " ".join(visible.split())[:MAX_NAME_LENGTH].strip() or instead


def _kind(character: str) -> str:
    return unicodedata.category(character)[0]
