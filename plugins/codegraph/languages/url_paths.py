"""The paths of URLs that a file writes out, with what takes each: a route's, or a request's.

This is no parser: it finds string literals that look like a path and reads the name of the call,
decorator or annotation before them. The linker keeps those that stand in a call that it knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from plugins.codegraph.facts import Definition, FileFacts, UrlPath
from plugins.codegraph.languages.url_templates import joined, url_template
from plugins.codegraph.model import EntityKind

VERBS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
_SPELLINGS = {spelt(verb): verb for verb in VERBS for spelt in (str.lower, str.upper, str.title)}
SERVING: Mapping[str, str] = MappingProxyType(
    _SPELLINGS
    | dict.fromkeys(
        ("route", "api_route", "add_url_rule", "add_route", "add_api_route", "Route", "websocket"),
        "",
    )
    | dict.fromkeys(("path", "re_path", "all", "any", "Any", "handle", "Handle", "HandleFunc"), "")
    | {f"{verb.title()}Mapping": verb for verb in VERBS}
    | {"RequestMapping": "", "Path": "", "Controller": "", "resource": ""}
)
"""What declares a route in the libraries of the six languages, with the HTTP method that it says:
Flask, FastAPI, Starlette, Django; Express, Fastify, NestJS; net/http, gin, chi; Spring, JAX-RS;
axum, actix-web, Rocket."""
REQUESTING: Mapping[str, str] = MappingProxyType(
    _SPELLINGS
    | dict.fromkeys(("fetch", "getForObject", "getForEntity", "urlopen", "useSWR", "ky"), "GET")
    | dict.fromkeys(("postForObject", "postForEntity"), "POST")
    | dict.fromkeys(
        ("request", "Request", "stream", "exchange", "NewRequest", "NewRequestWithContext"), ""
    )
    | dict.fromkeys(("axios", "ajax", "uri", "newBuilder"), "")
)
"""What makes a request, likewise: requests, httpx, urllib, aiohttp; fetch, axios, ky; net/http;
RestTemplate, WebClient, HttpClient; reqwest."""
_OF_CLASSES = frozenset({"Controller", "RequestMapping", "Path"})
"""What a class is annotated with: the path of all of its routes."""

_LITERAL = re.compile(
    rb"""(?P<quote>["'`])(?P<path>(?:[A-Z]{3,7}[ ])?(?:https?://|(?:\$?\{[^{}"'`\n]*\}|%[sv])?/(?!/))"""
    rb"""(?:\$?\{[^{}"'`\n]*\}|[^\s"'`])*)(?P=quote)"""
)
_RELATIVE = re.compile(
    rb"""\b(?:path|re_path|Controller|RequestMapping|Path|(?:Get|Post|Put|Delete|Patch)(?:Mapping)?)"""
    rb"""\(\s*(?:value\s*=\s*)?r?(?P<quote>["'])(?P<path>(?![/])[^\s"']*)(?P=quote)"""
)
"""Paths that begin without a slash: Django's, NestJS's and some of Spring's."""
_BARE = re.compile(
    rb"@(?P<call>(?:Get|Post|Put|Delete|Patch)(?:Mapping)?)\b(?P<quote>\s*\(\s*\)|(?!\s*\())"
)
"""Annotations without a path: of the path that their class has."""
_WINDOW_BYTES, _REST_BYTES = 400, 400
"""How far before a path the name of what takes it is looked for, and behind it a method."""
_TAKER = re.compile(
    rb"""
    (?P<mark>@|\#\[)?(?P<of>(?:[\w$]+(?:\(\w*\))?(?:\.|::|\?\.)\s*)*)(?P<call>[A-Za-z_$][\w$]*)!?
    \s*(?:<[^()]*>)?\s*\(\s*
    (?:(?:(?:[\w.:]*Method\.?(?P<constant>\w+)|["'](?P<word>[A-Z]{3,7})["']|[\w.]*(?:ctx|context|Context)
        (?:\.\w+\(\))?)\s*,\s*))*
    (?:(?:value|path|url|uri)\s*=\s*\{?\s*)?
    (?:(?:fmt\.Sprintf|format!|String\.format|URI\.create|new\s+URL|Uri\.parse)\(\s*)?
    (?:[\w.$]+(?:\(\))?\s*\+\s*)?
    [fFrRbBuU]{0,2}&?$
    """,
    re.VERBOSE,
)
_OPTION = re.compile(rb"""\burl["']?\s*:\s*(?:[\w.$]+\s*\+\s*)?$""")
"""A path among the options of a request: ``axios({method: "post", url: "/users"})``."""
_METHOD_OPTION = re.compile(rb"""\bmethod["']?\s*:\s*["'](\w+)""")
_METHODS = re.compile(
    rb"""methods?["']?\s*[:=]\s*[\[({]?\s*((?:[\w.]*["']?[A-Z]+["']?\s*,?\s*)+)"""
)
_VERB = re.compile(rb"\b(?:RequestMethod\.)?(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\b")
_GOES_ON = re.compile(rb"\s*(?:\+|%\s*[\w(])")
_PREFIX = re.compile(
    rb"""^(\w+)\s*(?::\s*\w+\s*)?=\s*(?:\w+\.)?(?:APIRouter|Blueprint|Router)\("""
    rb"""[^()]*?(?:url_)?prefix\s*=\s*["'](/[^"'\s]*)["']""",
    re.MULTILINE,
)
"""A router of FastAPI or a blueprint of Flask, whose routes stand below a prefix."""


class _Found(NamedTuple):
    """A path in the text.

    Attributes:
        at, end: where the name of what takes it begins, and where the path ends, in bytes.
        call: that name.
        of: what it is a member of: ``app.`` of ``app.get("/users")``.
        mark: whether it is a decorator or an annotation.
        written: the path as it stands there.
        verb: an HTTP method that stands before the path, or "".
    """

    at: int
    end: int
    call: str
    of: str
    mark: bool
    written: str
    verb: str = ""


def with_url_paths(facts: FileFacts, source: bytes) -> FileFacts:
    """The facts of a file with the paths that it writes out.

    Args:
        facts: what its language says.
        source: its bytes.
    """
    found = sorted(_found(source))
    if not found:
        return facts
    prefixes = _Prefixes(source, found, facts)
    paths = []
    line, seen = 1, 0
    for each in found:
        line, seen = line + source.count(b"\n", seen, each.at), each.at
        decorates = _decorated(source, facts, each.at) if each.mark else -1
        if each.mark and (decorates < 0 or facts.definitions[decorates].kind is EntityKind.CLASS):
            continue
        path, host = url_template(each.written)
        path = path if host else joined(prefixes.of(each), path)
        paths.append(UrlPath(each.call, line, path, host, _methods(source, each), decorates))
    return msgspec.structs.replace(facts, url_paths=tuple(paths))


def _found(source: bytes) -> Iterator[_Found]:
    for pattern in (_LITERAL, _RELATIVE):
        for literal in pattern.finditer(source):
            begin = max(0, literal.start("quote") - _WINDOW_BYTES)
            before = source[begin : literal.start("quote")]
            taker, option = _taker(before)
            if taker is not None and _is_known(call := taker["call"].decode()):
                verb, written = _written(source, literal)
                said = (taker["constant"] or taker["word"] or option).decode().upper()
                of, mark = taker["of"].decode(), taker["mark"] is not None
                at = begin + taker.start("call")
                yield _Found(at, literal.end(), call, of, mark, written, verb or said)
    for bare in _BARE.finditer(source):
        yield _Found(bare.start("call"), bare.end(), bare["call"].decode(), "", True, "/")


def _taker(before: bytes) -> tuple[re.Match[bytes] | None, bytes]:
    """What takes a path, by the text before it, and the HTTP method of its options, or b""."""
    if _OPTION.search(before) is None:
        return _TAKER.search(before), b""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] in b")}]") - (before[at] in b"({[")
        if before[at] == ord("(") and depth < 0:
            method = _METHOD_OPTION.search(before, at)
            return _TAKER.search(before[: at + 1]), method[1] if method else b""
    return None, b""


def _is_known(call: str) -> bool:
    return call in SERVING or call in REQUESTING


def _written(source: bytes, literal: re.Match[bytes]) -> tuple[str, str]:
    """The HTTP method that a literal begins with (Go 1.22), or "", and its path."""
    verb, _, path = literal["path"].decode("utf-8", "replace").rpartition(" ")
    if _GOES_ON.match(source, literal.end()) and "%" not in path:
        path += "{}"
    return verb, path


class _Prefixes:
    """The prefixes that a file sets for some of its routes.

    Args:
        source: the file's bytes.
        found: its paths.
        facts: what its language says.
    """

    def __init__(self, source: bytes, found: Sequence[_Found], facts: FileFacts) -> None:
        routers = _PREFIX.findall(source)
        self._routers = {name.decode(): url_template(at.decode()).path for name, at in routers}
        self._classes: list[tuple[Definition, str]] = []
        for each in found:
            number = _decorated(source, facts, each.at) if each.call in _OF_CLASSES else -1
            if number >= 0 and facts.definitions[number].kind is EntityKind.CLASS:
                path = url_template(each.written).path
                self._classes.append((facts.definitions[number], path))

    def of(self, found: _Found) -> str:
        """The prefix of a route: its router's or its class's; "" for none."""
        router = self._routers.get(found.of.partition(".")[0], "")
        if router or not found.mark:
            return router
        around = [path for one, path in self._classes if one.start <= found.at < one.end]
        return around[-1] if around else ""


def _decorated(source: bytes, facts: FileFacts, at: int) -> int:
    """The definition in whose head, before its name, a place is: the innermost around it; or -1."""
    around = [
        number
        for number, one in enumerate(facts.definitions)
        if one.start <= at < one.end and one.kind is not EntityKind.VARIABLE
    ]
    if not around:
        return -1
    one = facts.definitions[around[-1]]
    if facts.language == "java":  # where the line of a definition is that of its annotations
        return around[-1] if b"{" not in source[one.start : at] else -1
    return around[-1] if source.count(b"\n", 0, at) < one.line else -1


def _methods(source: bytes, each: _Found) -> tuple[str, ...]:
    """The HTTP methods that a call says: beside the path, further on, or by its name."""
    if each.verb in VERBS:
        return (each.verb,)
    rest = _rest_of_call(source, each.end)
    if option := _METHOD_OPTION.search(rest):
        return (option[1].decode().upper(),)
    if named := _METHODS.search(rest):
        return tuple(dict.fromkeys(verb.decode() for verb in _VERB.findall(named[1])))
    own = SERVING.get(each.call) or REQUESTING.get(each.call, "")
    return (own,) if own else ()


def _rest_of_call(source: bytes, start: int) -> bytes:
    """What follows in the same parentheses, up to :data:`_REST_BYTES`."""
    depth = 0
    rest = source[start : start + _REST_BYTES]
    for at, byte in enumerate(rest):
        depth += (byte in b"({[") - (byte in b")}]")
        if depth < 0:
            return rest[:at]
    return rest
