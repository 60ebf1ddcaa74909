"""A few error classes, sorted by who must act.

``ConfigError`` is for the admin, ``NotAllowed`` and ``NotFound`` for the caller,
``gateway.contract.ToolFailed`` for the model. Everything else is ours: it is logged with the
request id and hidden from the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from auth import Tier


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in a file that an admin edits.

    Attributes:
        file: the file as the admin knows it, or ``environment``.
        line: the line, from 1; 0 where there is none.
        key: the dotted key, or the item; may be empty.
        reason: what is wrong and what to write instead.
    """

    file: str
    line: int
    key: str
    reason: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (where, self.key, self.reason) if part)


class ConfigError(Exception):
    """The configuration is wrong; the admin must act. Carries every problem, not the first.

    Args:
        problems: what is wrong, in any order; kept sorted by file and line.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class PortalError(Exception):
    """An error that a caller sees as it is: its text holds nothing secret.

    Args:
        message: what is wrong and what to do.
        details: JSON values that help.

    Attributes:
        code: a short snake_case word that programs may compare.
        status: the HTTP status where the error answers a whole request.
        item: the item that it is about, such as ``knowledge/get_document``; empty where there is
            none that the caller may know.
    """

    item: str = ""
    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = dict(details or {})


class NotFound(PortalError):
    """There is no such item, as far as this caller may know."""

    code = "not_found"
    status = 404


class NotAllowed(PortalError):
    """The item asks for a higher tier than the caller has.

    The message begins with the words of the knowledge server specification, section 2.

    Args:
        item: the item, such as ``knowledge/get_document``.
        required: the tier that it asks for.
        current: the caller's tier.
        how: a sentence on how to get the required tier.
    """

    code = "not_allowed"
    status = 403

    def __init__(self, item: str, required: Tier, current: Tier, how: str = "") -> None:
        self.item = item
        self.required = required
        self.current = current
        refusal = f"Requires {required} access. Current: {current}."
        super().__init__(
            f"{refusal} {how}".rstrip(),
            {"item": item, "required": str(required), "current": str(current)},
        )


class ForAdmins(PortalError):
    """It is for the portal's admins, whatever the caller's tier.

    Args:
        item: what was asked for, such as ``codegraph/POST /codegraph/repositories``.
    """

    code = "not_allowed"
    status = 403

    def __init__(self, item: str) -> None:
        self.item = item
        super().__init__(
            "This is for the portal's admins, signed in as themselves: an API token does not "
            "carry an admin's rights."
        )


class BeyondToken(NotAllowed):
    """The caller's token is for named tools, and this item is not one of them.

    Args:
        item: the item.
        required: the tier that it asks for.
        current: the caller's tier.
        tools: what the token is for.
    """

    def __init__(self, item: str, required: Tier, current: Tier, tools: Iterable[str]) -> None:
        super().__init__(item, required, current)
        self.message = f"This token may be used for {', '.join(sorted(tools))} only."
        self.args = (self.message,)


def wire(code: str, message: str, details: Mapping[str, Any], request_id: str) -> dict[str, Any]:
    """The JSON object that REST and tool errors carry on the wire.

    Args:
        code: a short snake_case word.
        message: what is wrong and what to do.
        details: JSON values that help.
        request_id: the id under which the portal's log knows the request.
    """
    error = {"code": code, "message": message, "details": dict(details)}
    return {"error": error, "request_id": request_id}
