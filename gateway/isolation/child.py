"""The process of one plugin. The portal runs it as ``python -m gateway.isolation.child``.

It reads frames from its standard input and writes frames to what was its standard output; what
the plugin itself prints goes to standard error, where the portal reads log lines. It ends with
the portal, however that ends.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pickle
import signal
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from gateway.contract import Change, Host, Offer
from gateway.contract.models import NO_MODELS
from gateway.errors import ConfigError
from gateway.isolation.child_calls import Calls
from gateway.isolation.child_services import ChildPeople, NoJobs, NotIsolated, NoVectors
from gateway.isolation.description import described, unsupported
from gateway.isolation.frames import HEAD_BYTES, written
from gateway.isolation.setup import Setup
from gateway.observability import logs
from gateway.plugin_host import LISTED, make_host
from gateway.scrubbing.contents import ContentScrub
from gateway.services import open_services

_PR_SET_PDEATHSIG = 1
_EMBEDDED = "embedded"


def main() -> None:
    """Serve the plugin that the first frame names, until the portal says to end."""
    import uvloop

    output = os.dup(1)
    os.dup2(2, 1)
    _end_with_the_portal()
    setup: Setup = pickle.loads(_frame())  # noqa: S301  (the portal's own)
    logs.configure(setup.log_level, json=True)
    uvloop.run(Child(setup, output).run())


class Child:
    """Opens the plugin, and answers the portal.

    Args:
        setup: what the portal has sent.
        output: the descriptor to write frames to.
    """

    def __init__(self, setup: Setup, output: int) -> None:
        self._setup = setup
        self._output = output
        self._closing = asyncio.Event()
        self._calls = Calls(self._send, setup)
        self._transport: asyncio.WriteTransport | None = None

    async def run(self) -> None:
        """Open the plugin, and serve it until the portal says to end."""
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(self._output, "wb", buffering=0)
        self._transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
        threading.Thread(target=self._read, args=(loop,), name="portal", daemon=True).start()
        try:
            async with self._opened() as offer:
                self._calls.offer = offer
                self._send("opened", described(offer))
                await self._closing.wait()
                await self._calls.end()
        except (NotIsolated, ConfigError) as error:
            self._send("refused", str(error))
        except Exception as error:
            logs.get_logger(__name__).error("plugin_not_opened", exc_info=error)
            self._send("not_opened", f"{type(error).__name__}: {error}")
        self._transport.close()  # what waits is still written
        await self._closing.wait()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Offer]:
        setup = self._setup
        plugin, services = setup.declared(), setup.portal.config.services
        config = setup.portal.plugin_config(setup.plugin, plugin.config)
        async with open_services(services, setup.data_dir, root=setup.portal.root) as opened:
            host = self._host(opened.for_plugin(setup.plugin))
            async with plugin.open(config, host) as offer:
                if reasons := ", ".join(unsupported(offer)):
                    raise NotIsolated(reasons)
                yield offer

    def _host(self, shares: Any) -> Host:
        setup, config = self._setup, self._setup.portal.config
        made = make_host(
            shares,
            setup.plugin,
            config.name,
            self._changed,
            self._reoffer,
            root=setup.portal.root,
            wait_ready=setup.wait_ready,
        )
        scrub = ContentScrub(
            setup.plugin, config.scrubbing.enabled, config.scrubbing.allow, config.scrubbing.as_is
        )
        people: ChildPeople = self._calls.people
        here: dict[str, Any] = {"jobs": NoJobs()}
        if config.services.vectors == _EMBEDDED:
            here["vectors"] = NoVectors()
        here |= {"url": config.url, "local": config.is_local}
        return replace(made, people=people, models=NO_MODELS, scrub=scrub, **here)

    def _changed(self, change: Change) -> None:
        self._send("changed", change.kind, change.uri)

    def _reoffer(self, offer: Offer) -> None:
        if (before := self._calls.offer) is None:  # it is opening still
            return
        shown = {each: getattr(offer, each) for each in LISTED}
        self._calls.offer = now = replace(before, **shown)
        self._send("reoffered", described(now))

    def _send(self, *message: Any) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(written(*message))

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand on what the portal sends; where it is gone, so is this process, whatever it does."""
        while content := _frame():
            loop.call_soon_threadsafe(self._take, pickle.loads(content))  # noqa: S301
        os.killpg(0, signal.SIGKILL)

    def _take(self, message: tuple[Any, ...]) -> None:
        if message[0] == "close":
            self._closing.set()
        else:
            self._calls.take(*message)


def _end_with_the_portal() -> None:
    """Have the system end this process where the portal ends, also while it computes in C."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _frame() -> bytes:
    """The next frame of the portal's; nothing where it is gone."""
    head = _exactly(HEAD_BYTES)
    return _exactly(int.from_bytes(head, "big")) if head else b""


def _exactly(size: int) -> bytes:
    """So many bytes of the standard input; nothing where it ends before."""
    data = sys.stdin.buffer.read(size)
    return data if len(data) == size else b""


if __name__ == "__main__":
    main()
