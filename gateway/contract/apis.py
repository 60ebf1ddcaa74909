"""An API that a specification names, offered whole: its own paths, errors and headers.

Plugins reach these names through :mod:`gateway.contract`. What a plugin's own routes have, these
have as well: tiers, limits, deadlines, scrubbing, audit and metrics are the gateway's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from gateway.contract.routes import Route
from gateway.contract.streams import Stream

_PREFIX = re.compile(r"(?:/[A-Za-z0-9_.-]+)+")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was turned away, as the portal says it.

    Attributes:
        status: the HTTP status that the portal would answer with.
        code: a short snake_case word: that of a ``ToolFailed``, or the portal's own.
        message: what is wrong and what to do, for people.
        request_id: the id under which the portal's log knows the request.
        details: JSON values that help.
    """

    status: int
    code: str
    message: str
    request_id: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Allowance:
    """How often a caller may still ask for an operation.

    Attributes:
        limit: times within the window.
        left: times that remain.
        resets: seconds until it is more, or whole again.
    """

    limit: int
    left: int
    resets: float


def _no_headers(allowance: Allowance | None) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Api:
    """An API under paths of its own.

    Attributes:
        prefixes: where it is served, the first being its own and the others aliases of it:
            ``/openspec/v1/knowledge``. ``openapi.json`` below each describes it.
        title: its name, for the OpenAPI document.
        version: its specification's version, likewise.
        routes: its endpoints. Their paths begin at the prefix, "" being the prefix itself, and
            each names its ``operation``, so that the prefixes are counted together.
        error: the pydantic model of every answer that is no success.
        failed: what to answer in place of a refusal: the HTTP status, and an ``error``. A 401
            gets a challenge from the portal.
        headers: what each answer carries beside the portal's own, which ``X-Request-Id`` is one
            of; of a caller's allowance, or None where nothing was counted.
        header_texts: what each of those headers says, for the document.
        openapi: the version of OpenAPI that the document is written in.
        description: what a reader of the document should know first, in markdown.
        examples: answers as JSON values, by their models, for the document.

        streams: its endpoints that stream events.

    Raises:
        TypeError: a route names no operation.
        ValueError: a prefix is no path.
    """

    prefixes: Sequence[str]
    title: str
    version: str
    routes: Sequence[Route]
    error: type[BaseModel]
    failed: Callable[[Refusal], tuple[int, BaseModel]]
    headers: Callable[[Allowance | None], Mapping[str, str]] = _no_headers
    header_texts: Mapping[str, str] = field(default_factory=dict)
    openapi: Literal["3.0.3", "3.1.0"] = "3.1.0"
    description: str = ""
    examples: Mapping[type[BaseModel], Any] = field(default_factory=dict)
    streams: Sequence[Stream] = ()

    def __post_init__(self) -> None:
        for prefix in self.prefixes:
            if not _PREFIX.fullmatch(prefix):
                raise ValueError(f"the prefix {prefix!r} is no path such as /openspec/v1/things")
        endpoints: list[Route | Stream] = [*self.routes, *self.streams]
        for each in endpoints:
            if not each.operation:
                raise TypeError(f"the route {each.path!r} of {self.title} names no operation")
