"""Validation of repositories' addresses, names and branches."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""The pattern of a repository's name."""
MAX_LENGTH = 1024

_SCP = re.compile(r"^[\w.-]+@[\w.-]+:")
_NO_REF = re.compile(r"^[-/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|[/.]$|^@$")
"""What git-check-ref-format(1) rejects, and a leading hyphen, which would read as an option."""


class BadAddress(ValueError):
    """The address, name or branch is invalid; the message says why, and what to write."""


def is_address(text: str) -> bool:
    """Whether a text is an address rather than a path on this machine."""
    return "://" in text or "::" in text or bool(_SCP.match(text))


def checked_url(text: str, hosts: Collection[str] | None = None) -> str:
    """A repository's address in normal form.

    Args:
        text: the address as given.
        hosts: the allowed hosts, each with its port unless it is the https default; None if the
            portal's own admin asks.

    Raises:
        BadAddress: it is not https, contains a credential, or its host is not allowed.
    """
    if _SCP.match(text) or not text.lower().startswith("https://"):
        raise BadAddress(
            f"{_shown(text)} is no https address. Only https is used, never ssh, git or file: "
            "write https://host/owner/repository."
        )
    parts = _split(text)
    if parts.username is not None or parts.password is not None:
        raise BadAddress(
            "The address holds a credential. Take it out, keep it in the environment or a file, "
            "and name it in portal.yaml: plugins: codegraph: hosts: HOST: {token: env:NAME}."
        )
    path = parts.path.rstrip("/")
    if parts.query or parts.fragment or not path.strip("/") or len(text) > MAX_LENGTH:
        raise BadAddress(
            f"{_shown(text)} names no repository; write https://host/owner/repository."
        )
    port = f":{parts.port}" if parts.port not in (None, 443) else ""
    host = (parts.hostname or "").lower() + port
    if hosts is not None and host not in hosts:
        known = ", ".join(sorted(hosts)) or "none"
        raise BadAddress(
            f"The host {host} is not on the list of hosts ({known}). An admin adds it in "
            "portal.yaml: plugins: codegraph: hosts."
        )
    return f"https://{host}{path}"


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or re.search(r"[\x00-\x20\x7f\\]", text):
        raise BadAddress(f"{_shown(text)} is no address; write https://host/owner/repository.")
    return parts


def _shown(text: str) -> str:
    """The address as given, without a possible credential."""
    return re.sub(r"//[^/@]*@", "//***@", text)[:200]


def host_of(url: str) -> str:
    """The host of a checked address, with its port unless it is the https default."""
    return urlsplit(url).netloc


def checked_name(text: str) -> str:
    """A valid repository name.

    Raises:
        BadAddress: it is invalid.
    """
    if not re.fullmatch(NAME, text) or text.endswith((".", "-")):
        raise BadAddress(
            f"{text[:80]!r} cannot be a repository's name: use 1 to 64 letters, digits, dots, "
            "hyphens and underscores, and begin with a letter or a digit. Give one with --name."
        )
    return text


def name_from(location: str) -> str:
    """The repository name from the last segment of a path or an address.

    Raises:
        BadAddress: the segment is no valid name.
    """
    last = location.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return checked_name(re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-.") or last)


def checked_branch(text: str) -> str:
    """A valid branch name.

    Raises:
        BadAddress: it is invalid.
    """
    if not text or len(text) > 255 or _NO_REF.search(text):
        raise BadAddress(f"{text[:80]!r} is not the name of a branch.")
    return text
