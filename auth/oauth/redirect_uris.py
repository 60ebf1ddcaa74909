"""Which redirect URIs a client may have, and which of them a request names.

URIs are compared as text, without parsing (RFC 9700, section 4.1.3): where two parsers disagree
about an address, authorization codes end up with strangers.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pydantic_core import Url

from auth.portal_addresses import LOOPBACK_HOST

MAX_URI_LENGTH = 500
"""Characters of a redirect URI."""

# Printable ASCII, without what no URI has (RFC 3986, appendix A).
_PLAIN = re.compile(r"[!-~]+")
_NEVER = set('\\"<>^`{|}')
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_HTTPS = re.compile(r"https://[a-z0-9.\-\[\]:]+(?:[/?]|$)", re.IGNORECASE)
# RFC 8252, 7.3: the port of an app's own listener is chosen when it starts.
_LOOPBACK = re.compile(rf"(http://{LOOPBACK_HOST})(?::\d{{1,5}})?(?=[/?]|$)")
# Schemes that browsers execute, display or read themselves, or hand to what is no OAuth client.
_REFUSED = frozenset(
    [
        "about",
        "blob",
        "chrome",
        "data",
        "file",
        "filesystem",
        "ftp",
        "intent",
        "jar",
        "javascript",
        "livescript",
        "mailto",
        "resource",
        "search-ms",
        "sms",
        "tel",
        "vbscript",
        "view-source",
        "ws",
        "wss",
    ]
)
_REFUSED_FAMILIES = ("ms-", "chrome-", "moz-")


def problem(uri: str) -> str | None:
    """What is wrong with a redirect URI, or None where a client may have it.

    https may lead anywhere, http to this machine only (RFC 8252, section 7.3). Any other scheme
    counts as an app's own (section 7.1), such as ``cursor:``, unless browsers or operating
    systems give it a meaning.
    """
    if len(uri) > MAX_URI_LENGTH or not _PLAIN.fullmatch(uri) or _NEVER & set(uri):
        return f"must be an address of at most {MAX_URI_LENGTH} characters"
    if "#" in uri:
        return "must not have a fragment"
    found = _SCHEME.match(uri)
    if found is None or not _is_url(uri):
        return "must be a whole address with a scheme"
    return _scheme_problem(uri, found[1].lower())


def _is_url(text: str) -> bool:
    try:
        Url(text)
    except ValueError:
        return False
    return True


def _scheme_problem(uri: str, scheme: str) -> str | None:
    if scheme == "https":
        return None if _HTTPS.match(uri) else "must name a host and no user"
    if scheme == "http":
        return None if _LOOPBACK.match(uri) else "must use https; http is for localhost only"
    if scheme in _REFUSED or scheme.startswith(_REFUSED_FAMILIES):
        return f"must not use the scheme {scheme}"
    return None if len(uri) > len(scheme) + 1 else "must be a whole address"


def matches(registered: Collection[str], given: str) -> bool:
    """Whether a URI is one of a client's: the same text, but for the port on loopback."""
    if given in registered:
        return True
    here = _without_port(given)
    return here is not None and any(_without_port(each) == here for each in registered)


def _without_port(uri: str) -> str | None:
    found = _LOOPBACK.match(uri)
    return None if found is None else found[1] + uri[found.end() :]
