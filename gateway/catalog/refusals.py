"""What callers read who ask for what is not there, or not for them."""

from __future__ import annotations

from collections.abc import Iterable

from auth import Tier
from gateway.errors import NotFound, PortalError

_SENTENCES = {
    "tool": "Unknown tool: {}",
    "prompt": "Unknown prompt: {}",
    # In the words of SEP-2640, "Error Handling".
    "skill": "No skill is served at {}",
    "directory": "{} is not a directory resource",
}


def unknown(kind: str, name: str) -> NotFound:
    """The error for what is not there, as far as the caller may know.

    Args:
        kind: what was asked for; what is not one of those is a resource.
        name: the name or the URI that was asked for.
    """
    message = _SENTENCES.get(kind, "Unknown resource: {}").format(name)
    return NotFound(message, {"name" if kind in ("tool", "prompt") else "uri": name})


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
