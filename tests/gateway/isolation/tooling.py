"""The tools of the workshop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as mcp
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from gateway.contract import (
    BriefResult,
    Caller,
    Change,
    CollectionSpec,
    Host,
    Listing,
    Offer,
    Page,
    Relayed,
    RelayedError,
    Tier,
    Tool,
    ToolFailed,
    ToolResult,
)

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False)


class Made(BaseModel):
    """What was made."""

    thing: str
    weight: float | None = None
    parts: list[str] = []


class Shelf(ToolResult):
    """A shelf, in camelCase."""

    shelf_name: str
    boards: int | None = None


class Brief(BriefResult):
    """A long answer with words of its own."""

    lines: list[str]

    def brief(self) -> str:
        """In short."""
        return f"{len(self.lines)} lines."


class Tooling:
    """The workshop's tools, with what they are given."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.offer = Offer()

    async def make(self, thing: str, count: int = 1) -> Made:
        """Make a thing.

        Args:
            thing: what.
            count: how many.
        """
        return Made(thing=thing, weight=float("nan"), parts=["é 漢"] * count)

    async def shelve(self, name: str = "low") -> Shelf:
        """Put up a shelf.

        Args:
            name: its name.
        """
        return Shelf(shelf_name=name)

    async def tell(self, lines: int = 3) -> Brief:
        """Tell at length.

        Args:
            lines: how many lines.
        """
        return Brief(lines=["a line of a long answer"] * lines)

    async def draw(self) -> list[Any]:
        """Draw a plan."""
        return [mcp.TextContent(text="A plan."), mcp.ImageContent(data="AAAA", mime_type="i/p")]

    async def hand_on(self, how: str = "") -> Any:
        """Hand on what another server said.

        Args:
            how: result, error or relay.
        """
        if how == "error":
            raise RelayedError(-32001, "Out of wood.", {"left": 0})
        if how == "relay":
            return Relayed({"content": [{"type": "text", "text": "wood", "grain": "fine"}]})
        return mcp.CallToolResult(
            content=[mcp.TextContent(text="cut")], structured_content={"cut": None}
        )

    async def where(self, *, caller: Caller) -> dict[str, Any]:
        """Say where it runs, and for whom."""
        exchange = self.host.exchange()
        return {
            "process": os.getpid(),
            "tier": str(caller.tier),
            "allowed": [name for name in ("make", "guarded", "nothing") if exchange.allows(name)],
            "credential": exchange.credential,
            "request": len(exchange.request_id),
        }

    async def pass_on(self, key: str) -> dict[str, Any]:
        """Call another tool, and say what it answers.

        Args:
            key: which.
        """
        try:
            return dict(await self.host.exchange().call(key, {}))
        except ToolFailed as failed:
            return {"refused": failed.code}

    async def vouch(self, audience: str = "https://login.far.example") -> dict[str, Any]:
        """Get the portal's word about who calls, and say what it says.

        Args:
            audience: for whom.
        """
        try:
            said = await self.host.exchange().assertion(audience)
        except ToolFailed as failed:
            return {"refused": failed.code}
        return {"person": said.person, "subject": said.subject, "issuer": said.issuer}

    async def guarded(self) -> str:
        """For members alone."""
        return "done"

    async def fail(self, how: str) -> str:
        """Fail.

        Args:
            how: how.
        """
        if how == "typed":
            raise ToolFailed("no_wood", "There is no wood.", {"wood": ["oak"]})
        if how == "exit":
            sys.exit(3)
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "recursion":
            return await self.fail("recursion") + self._deeper(0)
        if how == "cancelled":
            task = asyncio.ensure_future(asyncio.sleep(60))
            task.cancel()
            await task
        raise RuntimeError("The saw is broken.")

    def _deeper(self, depth: int) -> str:
        return self._deeper(depth + 1)

    async def compute(self, seconds: float) -> str:
        """Compute, and let nobody else have a turn.

        Args:
            seconds: how long.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            sum(range(1000))
        return "computed"

    async def wait(self, mark: str = "") -> str:
        """Wait until the call is ended.

        Args:
            mark: a file that is written when it has begun, and again when it ends.
        """
        await asyncio.to_thread(Path(mark).write_text, "begun")
        try:
            await asyncio.sleep(3600)
        finally:
            Path(mark).write_text("ended")  # noqa: ASYNC240
        return "never"

    async def list_parts(self, count: int = 30) -> Listing[Made]:
        """List parts.

        Args:
            count: how many there are.
        """
        items = [Made(thing=f"part-{number:03}", parts=["long " * 50]) for number in range(count)]
        return Listing(items, lambda item: item.thing, note={"from": "the shelf"}, ordered=True)

    async def long(self, kind: str, mebibytes: int = 1) -> Any:
        """Answer at length.

        Args:
            kind: text or rows.
            mebibytes: how long.
        """
        if kind == "text":
            return "0123456789abcde\n" * (65_536 * mebibytes)
        return {"rows": [{"id": n, "text": "word " * 20} for n in range(10_000 * mebibytes)]}

    async def report(self) -> str:
        """Report progress, log, and ask the client."""
        exchange = self.host.exchange()
        await exchange.progress(1, 2, "half")
        await exchange.log("info", {"saw": "sharp", "wanted": exchange.log_level}, "workshop")
        exchange.link_asked("catalogue-7")()
        answer = await exchange.ask("elicitation/create", {"message": "Which wood?"})
        return str(answer["content"]["wood"])

    async def keep(self, note: str, *, caller: Caller) -> str:
        """Keep a note.

        Args:
            note: the note.
        """
        await self.host.objects.put(f"{caller.person}/note", note.encode())
        await self.host.cache.set("last", note.encode())
        async with self.host.database.begin() as connection:
            await connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS workshop_n (note TEXT)")
            await connection.exec_driver_sql("INSERT INTO workshop_n VALUES ('kept')")
            rows = await connection.exec_driver_sql("SELECT count(*) FROM workshop_n")
            count = rows.scalar()
        last = await self.host.cache.get("last")
        names = await self.host.people.names([caller.person or ""])
        fellows = await self.host.people.fellows(caller, "zoe")
        return f"{(last or b'').decode()} {count} {sorted(names.values())} {list(fellows)}"

    async def change(self) -> str:
        """Offer something new, and tell of it."""
        extra = Tool.of(self.guarded, name="extra", annotations=READS)
        self.host.reoffer(replace(self.offer, tools=[*self.offer.tools, extra]))
        self.host.changed(Change("workshop", "resource", "workshop://about"))
        self.host.log.warning("workshop_changed", wood="oak")
        print("printed by the workshop")  # noqa: T201
        return "changed"

    async def use(self, what: str) -> str:
        """Use what only the portal has.

        Args:
            what: vectors or jobs.
        """
        if what == "jobs":
            await self.host.jobs.enqueue("saw", {})
        await self.host.vectors.collection("wood", CollectionSpec())
        return "used"

    def tools(self) -> list[Tool]:
        """All of them."""
        functions: tuple[Any, ...] = (
            self.make,
            self.shelve,
            self.tell,
            self.draw,
            self.where,
            self.long,
        )
        shown = [Tool.of(each, annotations=READS) for each in functions]
        others: tuple[Any, ...] = (
            self.hand_on,
            self.pass_on,
            self.vouch,
            self.fail,
            self.compute,
            self.wait,
            self.report,
            self.keep,
        )
        listed = Tool.of(
            self.list_parts,
            annotations=READS,
            page=Page(10, lambda item: {"thing": item.thing}, Made | dict[str, Any]),
        )
        raw = Tool(
            "raw",
            "Takes a schema.",
            _raw,
            annotations=READS,
            input_schema={
                "type": "object",
                "properties": {"n": {"type": "integer", "description": "a number"}},
                "additionalProperties": False,
            },
        )
        more = [self.change, self.use]
        return [
            *shown,
            listed,
            raw,
            *(Tool.of(each, annotations=WRITES) for each in (*others, *more)),
            Tool.of(self.guarded, annotations=READS, floor=Tier.MEMBERS, timeout=7, title="Guard"),
        ]


async def _raw(args: Mapping[str, Any], caller: Caller) -> str:
    return f"raw {args}"
