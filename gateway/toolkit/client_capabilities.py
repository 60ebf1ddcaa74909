"""What a client calls itself, and what it can be asked, as it has declared it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gateway.contract import ToolFailed

ELICITATION = "elicitation/create"
NO_CAPABILITY = "missing_capability"
"""The failure of a call that needs what its client did not declare; clients of 2026-07-28 are told
it as the error of that name."""
_MAX_NAME_CHARACTERS = 40


def name_of(info: Any) -> str:
    """What a client calls itself, as it may be kept: short and printable; or nothing.

    Args:
        info: its ``clientInfo`` as it came in.
    """
    name = info.get("name") if isinstance(info, Mapping) else None
    if not isinstance(name, str):
        return ""
    return "".join(filter(str.isprintable, name[: 2 * _MAX_NAME_CHARACTERS]))[:_MAX_NAME_CHARACTERS]


def lacking(method: str, params: Mapping[str, Any], capabilities: Mapping[str, Any]) -> str:
    """The capability that a client would need to answer a question, and has not declared.

    Args:
        method: of the question, such as ``elicitation/create``.
        params: its parameters.
        capabilities: the client's, as they stand on the wire.

    Returns:
        Its name, with a dot before its part, such as ``elicitation.url``; nothing where the client
        lacks none.
    """
    name = method.partition("/")[0]
    declared = capabilities.get(name)
    if not isinstance(declared, Mapping):
        return name
    part = _part_of(method, params)
    # A client that names no mode of elicitation knows the one that was there first.
    is_first = part == "form" and not declared
    return "" if not part or is_first or part in declared else f"{name}.{part}"


def missing_capability(lacks: Iterable[str]) -> ToolFailed:
    """Why a call failed whose client lacks what :func:`lacking` names."""
    names = sorted(set(lacks))
    needed: dict[str, dict[str, Any]] = {}
    for name, _, part in (each.partition(".") for each in names):
        needed.setdefault(name, {}).update({part: {}} if part else {})
    text = f"This needs a client that offers {', '.join(names)}."
    return ToolFailed(NO_CAPABILITY, text, {"requiredCapabilities": needed})


def _part_of(method: str, params: Mapping[str, Any]) -> str:
    """The part of a capability that a question needs, where it has parts."""
    if method == ELICITATION:
        return "url" if params.get("mode") == "url" else "form"
    return "tools" if method == "sampling/createMessage" and params.get("tools") else ""
