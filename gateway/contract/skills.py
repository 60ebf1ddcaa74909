"""What a plugin declares of a skill. Plugins reach it through :mod:`gateway.contract`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auth import Caller, Tier
from gateway.contract.relayed import Origin


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One file of a skill, as its manifest lists it (MCP Skills extension, "Resources").

    Attributes:
        path: relative to the skill's root, with ``/``: ``SKILL.md``, ``references/forms.md``.
        digest: the SHA-256 of its raw bytes, 64 hexadecimal digits in lower case.
        size: its raw bytes.
        mime_type: its media type.
    """

    path: str
    digest: str
    size: int
    mime_type: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill: a directory of files with a SKILL.md (Agent Skills; MCP Skills extension).

    It is served as ``skill://PATH/SKILL.md`` and its sibling files, to ``skills/list``,
    ``skills/get``, ``resources/read`` and ``resources/directory/read``. In ``tiers.yaml`` it is
    the resource of its SKILL.md.

    Attributes:
        path: where it is below ``skill://``; the last segment is the frontmatter's ``name``.
        frontmatter: the YAML frontmatter of its SKILL.md, every field as the author wrote it.
        files: the complete manifest, SKILL.md among them.
        read: ``await read(file path, caller)``; the raw bytes that the manifest describes.
        tier: as in :class:`Tool`, like ``floor``.
        rows: as in :class:`Resource`.
        origin: where another server made it; its further fields are listed as they are.
    """

    path: str
    frontmatter: Mapping[str, Any]
    files: Sequence[SkillFile]
    read: Callable[[str, Caller], Awaitable[bytes]]
    tier: Tier | None = None
    floor: Tier = Tier.OPEN
    rows: tuple[str, ...] = ()
    origin: Origin | None = None
