"""What a plugin does not show, and why: plugins reach it through :mod:`gateway.contract`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from auth import Tier


@dataclass(frozen=True, slots=True)
class Absent:
    """Something that a caller does not see, or cannot use now, and why.

    The gateway tells it to nobody from whom ``tiers.yaml`` hides what has this key or this name.
    So a reason names nothing else that may be hidden.

    Attributes:
        name: what callers would call it: a tool's name; of a source, such as a server, its own.
        key: what ``tiers.yaml`` would call it below the plugin, without ``prompt:`` and
            ``resource:``. That of a source is how the keys of all that it has begin.
        why: one word for programs, such as ``malformed`` or ``down``.
        reason: why, in a sentence for whoever misses it.
        kind: what it is.
        tier: as of the item that it would be.
        begins: of a source, how the names of what it has begin.
        link: where the caller can do something about it, or nothing.
        detail: what else an admin should know; nobody else is told.
    """

    name: str
    key: str
    why: str
    reason: str
    kind: Literal["tool", "prompt", "resource", "source"] = "tool"
    tier: Tier | None = None
    begins: str = ""
    link: str = ""
    detail: str = ""
