"""What ``porch serve`` prints for the person who started it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from gateway.server.service_manager import tell_ready

if TYPE_CHECKING:
    from gateway.app import PortalApp
    from gateway.config.portal import Portal
    from gateway.contract import Health
    from gateway.observability.health import PluginHealth, Report
    from gateway.open_portal import OpenPortal

_POLL_SECONDS, _LATE_POLL_SECONDS = 0.25, 1.0
"""Seconds between two looks at how the plugins are: while one starts, and while one is late."""
_CLEARED = "\r\x1b[2K"
"""The control sequence that clears the terminal line of the cursor."""


class Welcome:
    """Prints the addresses once the portal listens, and reports when everything is indexed.

    Args:
        app: the portal; None where workers are it.
        portal: its configuration.
        with_tokens: whether static tokens are in use, which calls for a warning.
    """

    def __init__(self, app: PortalApp | None, portal: Portal, *, with_tokens: bool) -> None:
        self._app = app
        self._portal = portal
        self._with_tokens = with_tokens
        self._following: asyncio.Task[None] | None = None

    def listening(self, port: int) -> None:
        """Print the lines for a portal that listens on a port, and follow its health."""
        self.show(port)
        self._following = asyncio.get_running_loop().create_task(self._follow())

    def show(self, port: int) -> None:
        """Print the lines for a portal that listens on a port, and tell a service manager."""
        for line in self._lines(port):
            _print_line(line)
        tell_ready()

    def _lines(self, port: int) -> Iterator[str]:
        page = self._url(port)
        url = f"{page}/mcp"
        yield f"{self._portal.config.name} listens (Porch {version('porch')})."
        yield ""
        yield f"  Paste into your MCP client    {url}"
        sign_in = self._portal.config.sign_in
        can_sign_in = sign_in.wallet.enabled or sign_in.github or sign_in.oidc
        yield f"  Open in a browser{' to sign in' if can_sign_in else '':<11}  {page}"
        yield ""
        for where, what in self._snippets(url):
            yield f"  {where}"
            yield f"    {what}"
        yield ""
        if self._with_tokens:
            yield "Warning: PORCH_STATIC_TOKENS is set. Static tokens are for development and"
            yield "tests; anyone who learns one has its tier until you change it."
            yield ""

    def _snippets(self, url: str) -> Iterator[tuple[str, str]]:
        """Where something is pasted, and what; each fits on a line of 80 columns."""
        yield "Claude Code", f"claude mcp add --transport http porch {url}"
        yield "Cursor, in mcp.json", f'{{"mcpServers": {{"porch": {{"url": "{url}"}}}}}}'
        vscode = f'{{"servers": {{"porch": {{"type": "http", "url": "{url}"}}}}}}'
        yield "VS Code, in mcp.json", vscode
        yield "Try it here, in another terminal", f"{_program()} {self._example()}"

    def _url(self, port: int) -> str:
        config = self._portal.config
        if config.public_url:
            return config.public_url
        host = urlsplit(config.url).hostname or "127.0.0.1"
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def _example(self) -> str:
        running = self._running
        if running and running.catalog.knows("search_knowledge"):
            return 'call search_knowledge query="who may use what"'
        return "tools"

    @property
    def _running(self) -> OpenPortal | None:
        return None if self._app is None else self._app.running

    async def _follow(self) -> None:
        """Say what each plugin begins with, and how all are once none is starting any more."""
        announced: set[str] = set()
        while running := self._running:
            report = await running.board.report()
            for plugin in report.plugins:
                if plugin.health.state == "starting" and plugin.name not in announced:
                    announced.add(plugin.name)
                    _print_line(f"{plugin.name}: {plugin.health.detail or 'starting'}")
            if not any(plugin.health.state == "starting" for plugin in report.plugins):
                for line in _settled(report):
                    _print_line(line)
                break
            await asyncio.sleep(_POLL_SECONDS)
        await self._follow_late()

    async def _follow_late(self) -> None:
        """Say which plugins open after the portal has, once they have."""
        waited: frozenset[str] = frozenset()
        while (running := self._running) and (waited or running.board.opening):
            opened = waited - running.board.opening
            waited = running.board.opening
            if opened:
                report = await running.board.report()
                for plugin in report.plugins:
                    if plugin.name in opened:
                        _print_line(_line(plugin))
            await asyncio.sleep(_LATE_POLL_SECONDS)


def _print_line(line: str) -> None:
    """Print a line, in the place of the bar that a plugin may have drawn where the cursor is."""
    click.echo(f"{_CLEARED if sys.stdout.isatty() else ''}{line}")


def _program() -> str:
    """``porch`` as the person can type it: by its path where it is not on theirs."""
    if shutil.which("porch"):
        return "porch"
    # Started again by --reload, the program is `python -m gateway.cli`, beside which porch lies.
    beside = Path(sys.executable).with_name("porch")
    return os.path.relpath(beside if sys.argv[0].endswith("__main__.py") else sys.argv[0])


def _settled(report: Report) -> Iterator[str]:
    for plugin in report.plugins:
        yield _line(plugin)
    for notice in report.notices:
        yield f"Note: {notice}"
    if report.notices or report.status == "failed":
        yield "`porch doctor` says what to mend."
    yield "Ready. Ctrl+C stops." if report.ready else "Serving what can be served. Ctrl+C stops."


def _line(plugin: PluginHealth) -> str:
    state = plugin.health.state
    word = "ready" if state == "ok" else state
    return f"{plugin.name}: {word}. {plugin.health.detail or _counts(plugin.health)}".rstrip()


def _counts(health: Health) -> str:
    """The numbers among a plugin's facts, such as ``95 documents, 412 passages``."""
    from gateway.cli.render import named

    numbers = {name: n for name, n in health.facts.items() if isinstance(n, int) and n}
    return ", ".join(
        f"{n:,} {_one(named(name)) if n == 1 else named(name)}" for name, n in numbers.items()
    )


def _one(several: str) -> str:
    """``repositories`` as ``repository``, ``documents`` as ``document``."""
    return several[:-3] + "y" if several.endswith("ies") else several.removesuffix("s")
