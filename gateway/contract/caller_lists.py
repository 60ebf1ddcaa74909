"""Declarations whose lists differ from caller to caller.

A plugin declares once what kind of thing it lists; who sees which of them, it is asked at each
list. Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from auth import Caller, Tier

if TYPE_CHECKING:
    from gateway.contract.offers import Prompt


@dataclass(frozen=True, slots=True)
class ListedResource:
    """A resource of a template, as a list shows it to one caller.

    Attributes:
        uri: its URI, which is of the template.
        name: a short name.
        summary: what it holds.
        title: a display name.
        mime_type: its media type; the template's where None.
    """

    uri: str
    name: str
    summary: str
    title: str | None = None
    mime_type: str | None = None


ResourceLister = Callable[[Caller, str | None, int], Awaitable[Sequence[ListedResource]]]
"""``await listed(caller, after, limit)``: the template's resources that this caller sees.

They come in a fixed order, at most ``limit`` of them; fewer mean that there are no more. The list
begins after the URI ``after``, which was listed before and may be gone by now; None is the
beginning. It has a few seconds.
"""


@dataclass(frozen=True, slots=True)
class PromptFamily:
    """Prompts that are the plugin's content, of which each caller sees their own.

    A family is one item: ``tiers.yaml`` names it ``plugin/prompt:NAME``, and all its prompts have
    its tier. They are looked up when they are asked for, and nothing of them is kept.

    Attributes:
        name: how the names of its prompts begin, then ``*``, such as ``workflow-*``. No other
            family's name begins like that. A prompt that is declared under such a name goes
            before the family's.
        summary: what they are, for people.
        listed: ``await listed(caller, after, limit)``: the prompts that this caller sees, in a
            fixed order, at most ``limit``; fewer mean that there are no more. They begin after
            the name ``after``, which was listed before and may be gone by now. It has a few
            seconds.
        find: ``await find(name, caller)``: the prompt of that name, or None where there is none
            that this caller may use.
        tier: as in ``Tool``, like ``floor``. The prompts themselves have neither.
        title: a display name.
    """

    name: str
    summary: str
    listed: Callable[[Caller, str | None, int], Awaitable[Sequence[Prompt]]]
    find: Callable[[str, Caller], Awaitable[Prompt | None]]
    tier: Tier | None = None
    floor: Tier = Tier.OPEN
    title: str | None = None
