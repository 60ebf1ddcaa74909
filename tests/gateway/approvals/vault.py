"""A plugin whose tools count how often they run, for what waits for a yes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import mcp_types as mcp
from pydantic import BaseModel, Field

from gateway.contract import (
    Caller,
    Host,
    Offer,
    Plugin,
    Route,
    Tier,
    Tool,
    ToolFailed,
    View,
    Write,
    hookimpl,
)

PAY = "vault/pay"


_PAID = "Paid {{ result.amount }} to {{ result.to }}."
VIEWS = (
    View.beside(
        __file__, "ledger", "Payments", "look", writes=[Write("pay", _PAID), Write("settle", _PAID)]
    ),
    View.beside(__file__, "audit", "Audit", "audit", template="audited.html"),
)


def _reading(run: Any) -> Tool:
    reads = mcp.ToolAnnotations(read_only_hint=True)
    schema = {"type": "object"}
    name = run.__name__
    return Tool(name, "Looks.", run, input_schema=schema, tier=Tier.OPEN, annotations=reads)


class Payment(BaseModel):
    """A payment."""

    to: str = Field(description="To whom.")
    amount: int = Field(description="How much.")
    note: str = Field("", description="What for.")


class Paid(BaseModel):
    """A payment that was made."""

    to: str
    amount: int


class Vault:
    """Pays, and keeps what it has paid.

    Attributes:
        paid: what was paid.
        broken: whether paying fails.
    """

    def __init__(self) -> None:
        self.paid: list[Payment] = []
        self.broken = False
        self.host: Host | None = None

    async def pay(self, args: Payment, caller: Caller) -> Paid:
        self.paid.append(args)
        if self.broken:
            raise ToolFailed("broken", "The vault is broken.")
        return Paid(to=args.to, amount=args.amount)

    async def look(self, args: Mapping[str, Any], caller: Caller) -> str:
        return f"{len(self.paid)} payments"

    async def settle(self, args: Payment, caller: Caller) -> Paid:
        return await self.pay(args, caller)

    async def audit(self, args: Mapping[str, Any], caller: Caller) -> str:
        return f"audited: {len(self.paid)} payments"

    async def confirm(self, args: Payment, caller: Caller) -> Any:
        """Pays once its client has come again with a word; asks for that first."""
        assert self.host is not None
        if not self.host.exchange().input_responses:
            form = {"type": "object", "properties": {"word": {"type": "string"}}}
            asked = mcp.ElicitRequestFormParams(message="Which word?", requested_schema=form)
            return mcp.InputRequiredResult(
                input_requests={"word": mcp.ElicitRequest(params=asked)}, request_state="round 2"
            )
        return await self.pay(args, caller)

    async def through(self, args: Payment, caller: Caller) -> Mapping[str, Any]:
        """Calls ``pay`` for its caller."""
        assert self.host is not None
        return await self.host.exchange().call(PAY, args.model_dump())

    def module(self) -> Any:
        """The plugin's module."""

        @asynccontextmanager
        async def opened(config: Any, host: Host) -> AsyncGenerator[Offer]:
            self.host = host
            runs = [self.pay, self.settle, self.confirm, self.through]
            tools = [Tool(f.__name__, "Pays.", f, args=Payment, tier=Tier.OPEN) for f in runs]
            tools += [_reading(look) for look in (self.look, self.audit)]
            route = Route("POST", "/pay", self.pay, "pay", Payment, Paid, summary="Pays.")
            yield Offer(tools=tools, routes=[route], views=VIEWS)

        module: Any = ModuleType("module_vault")
        module.porch_plugin = hookimpl(lambda: Plugin("vault", "A vault.", opened))
        return module
