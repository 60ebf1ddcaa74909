"""A plugin that has members' agents judge texts, and keeps what it accepts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import (
    Caller,
    Host,
    Offer,
    Plugin,
    RowKind,
    Tier,
    ToolFailed,
    Work,
    WorkAnswer,
    hookimpl,
)


class Judgement(BaseModel):
    """What an agent says of a text."""

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["good", "bad"] = Field(description="Whether the text is good.")
    quote: str = Field(description="The words of the text that decide it.", max_length=200)


class Clerk:
    """Publishes texts to judge, and keeps the judgements.

    Attributes:
        host: the plugin's share of the portal, once it is open.
        accepted: what was accepted, in order.
        refuse: what it refuses every answer with; nothing where it takes them.
        broken: whether accepting fails.
        secret: keys that nobody may read whose person is not named here.
    """

    def __init__(
        self, lease_seconds: float = 900.0, publishes: Sequence[str] = (), **more: Any
    ) -> None:
        self.host: Host | None = None
        self.accepted: list[WorkAnswer] = []
        self.refuse = ""
        self.broken = False
        self.secret: dict[str, set[str]] = {}
        self._publishes = publishes
        self._lease_seconds, self._more = lease_seconds, more

    async def accept(self, answer: WorkAnswer) -> None:
        if self.broken:
            raise RuntimeError("The clerk is ill.")
        if self.refuse:
            raise ToolFailed("refused", self.refuse)
        assert self.host is not None
        async with self.host.database.begin() as connection:
            if await answer.once(connection):
                self.accepted.append(answer)

    async def check(self, value: Judgement, context: Mapping[str, Any]) -> None:
        if value.quote not in context["text"]:
            raise ToolFailed("not_quoted", "The quote is no part of the text. Copy it exactly.")

    async def may_read(self, key: str, caller: Caller) -> bool:
        return key not in self.secret or caller.name in self.secret[key]

    def works(self) -> Sequence[Work]:
        """One opinion is enough for `judge`; `second` takes two, and is for everybody who may."""
        common: dict[str, Any] = {"schema": Judgement, "accept": self.accept, "check": self.check}
        task = "Say whether the text is good."
        common |= {"lease_seconds": self._lease_seconds}
        judge: dict[str, Any] = {"tier": Tier.PUBLIC, "may_read": self.may_read, **common}
        second: dict[str, Any] = {"opinions": 2, "agree": _same, **common, **self._more}
        return (
            Work("judge", "Judge a text", task, **judge),
            Work("second", "Judge a text twice", task, **second),
        )

    async def publish(self, key: str, text: str = "All is well.", **more: Any) -> str:
        """Publish a text."""
        assert self.host is not None
        kind, tier = more.pop("kind", "judge"), more.pop("tier", Tier.PUBLIC)
        return await self.host.work.publish(kind, key, {"text": text}, tier=tier, **more)

    def module(self) -> Any:
        """The plugin's module."""

        @asynccontextmanager
        async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
            self.host = host
            for key in self._publishes:
                await self.publish(key)
            yield Offer(work=self.works(), rows=[RowKind("text", "a text, by its name", list)])

        module: Any = ModuleType("module_clerk")
        module.porch_plugin = hookimpl(lambda: Plugin("clerk", "A clerk.", opened))
        return module


def _same(some: Judgement, other: Judgement) -> bool:
    return some.verdict == other.verdict
