"""The first stage of a call that has found its item: the arguments lose their secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.scrubbing.opaque import NOTHING, Opaque
from gateway.scrubbing.scrubber import Redaction, Scrubber, texts_of

LONG_ARGUMENTS_CHARACTERS = 20_000
"""Characters of arguments from which on looking for secrets would hold up other calls."""

Cleaned = tuple[Mapping[str, Any], Sequence[Redaction]]
"""JSON values without their secrets, and what was taken out."""


class ArgumentScrub:
    """Takes secrets out of what comes from a client.

    Args:
        scrubber: finds them; None leaves everything as it is.
    """

    def __init__(self, scrubber: Scrubber | None) -> None:
        self._scrubber = scrubber

    async def arguments(self, raw: Mapping[str, Any], opaque: Opaque) -> Cleaned:
        """Arguments without their secrets; long ones are looked through beside the event loop.

        Args:
            raw: JSON values.
            opaque: what to leave alone; None leaves everything.
        """
        if self._scrubber is None or opaque is None:
            return raw, ()
        texts = texts_of(raw, opaque)
        if sum(map(len, texts)) > LONG_ARGUMENTS_CHARACTERS:
            return await asyncio.to_thread(self._scrubber.arguments, raw, opaque, texts)
        return self._scrubber.arguments(raw, opaque, texts)

    def now(self, answered: Mapping[str, Any]) -> Cleaned:
        """What a client answered to a question, without its secrets."""
        if self._scrubber is None:
            return answered, ()
        return self._scrubber.arguments(answered, NOTHING)

    def text(self, text: str) -> str:
        """A name or an address as it may be said back, without the secrets in it."""
        return self._scrubber.text(text)[0] if self._scrubber else text
