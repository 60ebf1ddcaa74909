"""Paths of URLs in one spelling, whatever the library that they are written for."""

from __future__ import annotations

import re
from typing import NamedTuple

ANY, REST = "*", "**"
"""A part of a path that is filled in, and a rest of any length."""
_URL = re.compile(r"(?:https?:)?//([^/?#]*)")
_BASE = re.compile(r"(?:\$?\{[^{}]*\}|%[sv])(?=/|$)")
"""What stands for scheme and host in a template: ``${BASE}/users``."""
_REST = re.compile(
    r"\*\w*|\{\*\w*\}|\{[^{}]*(?::path|\.\.\.)\}|<path:\w+>|:\w+[*+]|\[{1,2}\.\.\.\w+\]{1,2}"
)
_FILLED = re.compile(r"\$?\{[^{}]*\}|<[^<>]*>|%[sdv]|^:\w|\[\w+\]|\((?:[^()]|\([^()]*\))*\)|\\[dw]")
_LOCAL = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::|$)|[{}$%]")
"""A host that stands for the portal's own machine, or that is filled in."""


class UrlTemplate(NamedTuple):
    """A path in one spelling.

    Attributes:
        path: ``/users/*``; begins with a slash and ends without one, but for ``/`` itself.
        host: the host that is named, or "" for none, this machine, or one that is filled in.
    """

    path: str
    host: str = ""


def url_template(written: str) -> UrlTemplate:
    """A path or URL as a library takes it (``/users/{id}``, ``/users/:id``, ``users/<int:id>/``,
    ``${BASE}/users/${id}?page=1``), in one spelling."""
    rest, host = written.strip("^$") if written.startswith("^") else written, ""
    if url := _URL.match(rest):
        rest, host = rest[url.end() :], "" if _LOCAL.match(url[1]) else url[1]
        host = "" if _LOCAL.search(host) else host
    elif base := _BASE.match(rest):
        rest = rest[base.end() :]
    rest = _without_query(rest)
    parts = [_part(each) for each in rest.split("/") if each]
    return UrlTemplate("/" + "/".join(parts), host)


def _without_query(path: str) -> str:
    """The path alone. A question mark within a group of a pattern is no query."""
    depth = 0
    for at, letter in enumerate(path):
        depth += (letter in "({<[") - (letter in ")}>]")
        if not depth and letter in "?#":
            return path[:at]
    return path


def _part(segment: str) -> str:
    if _REST.fullmatch(segment):
        return REST
    return ANY if _FILLED.search(segment) else segment


def joined(prefix: str, path: str) -> str:
    """A path below a prefix; either may be ``/``."""
    return (prefix.rstrip("/") + "/" + path.lstrip("/")).rstrip("/") or "/"


def matched(route: str, request: str) -> int:
    """How many parts of a request's path a route accounts for, from the end; 0 if it does not fit.

    A route may stand below a prefix that is set elsewhere, so it may be shorter than the request,
    as long as at least one of its parts is written out. What a request fills in fits only what a
    route fills in too: otherwise any request would fit any route.
    """
    if route == request:
        return request.count("/")
    wanted, given = route.strip("/").split("/"), request.strip("/").split("/")
    if wanted[-1] == REST:
        return _with_rest(wanted[:-1], given)
    if len(wanted) > len(given) or not any(part != ANY for part in wanted) or wanted == [""]:
        return 0
    tail = given[len(given) - len(wanted) :]
    return len(wanted) if all(map(_fits, wanted, tail)) else 0


def _with_rest(wanted: list[str], given: list[str]) -> int:
    """A rest fits whatever follows, so what stands before it must fit from the start."""
    if not wanted or len(given) <= len(wanted) or not any(part != ANY for part in wanted):
        return 0
    return len(wanted) if all(map(_fits, wanted, given)) else 0


def _fits(wanted: str, given: str) -> bool:
    return wanted in (ANY, given)
