"""REST endpoints that a plugin offers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from auth import Caller
from gateway.contract.answer_size import Listing
from gateway.contract.config_types import checked_rate


@dataclass(frozen=True, slots=True)
class Route:
    """A REST endpoint, for programs that do not speak MCP: a tool's result, or an admin's lever.

    Attributes:
        method: the HTTP method. ``POST`` and ``PUT`` take a JSON object as their body; ``DELETE``
            takes one beside the query.
        path: below ``/api/v1/<plugin>``, or from ``/api/v1`` where ``absolute``, or below an
            ``Api``'s prefix; variables in braces, such as ``/entries/{contentType}/{id}``.
        run: ``await run(params, caller)``; returns an instance of ``response``, or raises
            ``ToolFailed`` (``not_found`` is a 404, every other code a 400). Where its tool is
            paged it may return a ``Listing``; ``response`` is then the page's ``result``.
        tool: the plugin's tool whose tier the route carries; None where it is for admins.
        params: the pydantic model of path and query parameters and of the body, together. What of
            a ``DELETE`` is an object stands in its body.
        response: the pydantic model of the success answer.
        summary: one line for the OpenAPI document.
        absolute: whether a specification names the path, so that it has no plugin prefix.
        admin: whether it is for the portal's admins alone, whatever a tier says.
        rate: how often one caller may ask for it, such as ``30 in 60s``, or ``none``; "" leaves it
            to the portal. ``portal.yaml`` may say otherwise.
        operation: what it is counted as; the plugin's routes of one operation are counted
            together. "" is an operation of its own.
        status: the HTTP status of success, such as 201 or 202.
        body: bytes that a body may have here, where that is more than ``limits.body`` of
            ``portal.yaml``.
        name: what generated clients call it (``operationId``): unique in its API. "" makes it of
            the method and the path.

    Raises:
        TypeError: it carries no tool's tier and is not for admins either.
        ValueError: its rate means nothing.
    """

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    run: Callable[[Any, Caller], Awaitable[BaseModel | Listing[Any]]]
    tool: str | None
    params: type[BaseModel]
    response: type[BaseModel]
    summary: str
    absolute: bool = False
    admin: bool = False
    rate: str = ""
    operation: str = ""
    status: int = 200
    body: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        if self.rate:
            checked_rate(self.rate)
        if self.tool is None and not self.admin:
            raise TypeError(f"the route {self.path} names no tool whose tier it carries")
