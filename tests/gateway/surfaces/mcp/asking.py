"""Tools that ask the person in front of a client."""

from __future__ import annotations

import asyncio

from gateway.contract import Host, Tool


def asking_tools(host: Host) -> list[Tool]:
    """Tools that ask once, once and then take too long, and twice at the same time."""

    async def ask() -> str:
        """Asks the person."""
        answer = await host.exchange().ask("elicitation/create", {"message": "Well?"})
        return f"They said {answer['action']}."

    async def ask_then_wait() -> str:
        """Asks the person, then takes too long."""
        await host.exchange().ask("elicitation/create", {"message": "Well?"})
        await asyncio.sleep(10)
        return "never"

    async def ask_twice() -> str:
        """Asks the person two things at once."""
        ask = host.exchange().ask
        asked = (ask("elicitation/create", {"message": each}) for each in ("Well?", "Really?"))
        answers = await asyncio.gather(*asked)
        return f"They said {' and '.join(each['action'] for each in answers)}."

    return [Tool.of(each) for each in (ask, ask_then_wait, ask_twice)]
