"""A way to the portal: the one that runs here, or one opened for this command alone."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import Setup
from gateway.config.addresses import MCP_PATH

if TYPE_CHECKING:
    import httpx2

START_TIMEOUT_SECONDS = 30.0
"""Seconds to wait for a portal that is starting or for another command to finish."""

_RETRY_INTERVAL_SECONDS = 0.1
_STATUS = "/admin/status?own"
"""What this process of a portal says of itself, without asking the others."""
_ADDRESS_TIMEOUT_SECONDS = 2.0
"""Seconds that a portal has to say its address; it is told beside what a command is for."""


@asynccontextmanager
async def connected(
    setup: Setup, tier: str = "members", *, wait_ready: bool = True
) -> AsyncGenerator[httpx2.AsyncClient]:
    """Connect to the portal that holds the data directory, or open it here.

    Either way requests pass the same doors; they come as the portal's own user, who may act
    at any tier.

    Args:
        setup: names the data directory.
        tier: the tier to act at.
        wait_ready: whether a portal opened here should index its content first.

    Raises:
        ConfigError: the data directory stays held by a process that does not answer, or the
            portal cannot be opened.
        click.ClickException: it ended before it answered.
    """
    import httpx2

    async with AsyncExitStack() as stack:
        transport = await _transport(setup, stack, wait_ready)
        client = httpx2.AsyncClient(
            transport=transport,
            base_url="http://localhost",
            headers={"X-Porch-As": tier},
            timeout=None,
        )
        try:
            yield await stack.enter_async_context(client)
        except httpx2.TransportError as error:
            raise _ended(setup, error) from None


async def request_portal(
    setup: Setup,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    seconds: float | None = None,
) -> Any:
    """Ask the portal that holds the data directory, as its own user.

    Args:
        setup: names the data directory.
        method: the HTTP method.
        path: the address below the portal's.
        body: what to send as JSON, or None.
        seconds: how long it may take, or None for as long as it does.

    Returns:
        The answer's JSON; None where no portal runs there, or is left to read from.

    Raises:
        ToolFailed: the portal refuses.
        click.ClickException: it ended before it had answered something that may have an effect.
    """
    from gateway.server.data_directory import local_socket

    socket_path = local_socket(setup.data_dir)
    if not is_listening(socket_path):
        return None
    import httpx2

    transport = httpx2.AsyncHTTPTransport(uds=str(socket_path))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", timeout=seconds
    ) as client:
        try:
            response = await client.request(method, path, json=body)
        except httpx2.TransportError as error:
            if method == "GET" or isinstance(error, httpx2.ConnectError):
                return None
            raise _ended(setup, error) from None
    answer = response.json()
    if response.is_success:
        return answer
    from gateway.contract import ToolFailed

    raise ToolFailed(answer["error"]["code"], answer["error"]["message"])


async def mcp_url(setup: Setup) -> str:
    """The address of the portal's MCP endpoint, as members paste it.

    It is that of the portal that runs on the data directory, which may listen elsewhere than
    ``portal.yaml`` says, or else what that file says.
    """
    running = await request_portal(setup, "GET", _STATUS, seconds=_ADDRESS_TIMEOUT_SECONDS)
    return (running["url"] if running else setup.portal.config.url) + MCP_PATH


def _ended(setup: Setup, error: Exception) -> click.ClickException:
    """What to tell whoever asked a portal that ended before it answered."""
    import httpx2

    where = f"The portal on {setup.data_dir}"
    if isinstance(error, httpx2.ConnectError):
        return click.ClickException(
            f"{where} is just ending: it takes no more requests, and has not had this one. "
            "Run the command again in a moment; without a portal it opens one for itself. To have "
            "one run, start it with `porch serve`."
        )
    return click.ClickException(
        f"{where} ended before it answered, so what was asked may be done or not. Look before "
        "you run the command again: `porch audit` lists what was called, and what came of it."
    )


def admin_answer(setup: Setup, method: str, path: str, **request: Any) -> Any:
    """What the portal answers an admin, as JSON values; where none runs, it is opened to ask.

    Args:
        setup: names the data directory.
        method: the HTTP method.
        path: the address below ``/admin``.
        request: the rest of the request, as ``httpx2`` takes it.

    Raises:
        click.ClickException: it refused; the message says why.
    """
    answer, refused = asyncio.run(_admin_answer(setup, method, path, request))
    if refused:
        raise click.ClickException(answer["error"]["message"])
    return answer


async def _admin_answer(
    setup: Setup, method: str, path: str, request: Mapping[str, Any]
) -> tuple[Any, bool]:
    async with connected(setup, wait_ready=False) as http:
        response = await http.request(method, f"/admin/{path}", **request)
    return response.json(), not response.is_success


async def _transport(
    setup: Setup, stack: AsyncExitStack, wait_ready: bool
) -> httpx2.AsyncBaseTransport:
    import httpx2

    from gateway.server.data_directory import held, local_socket

    path = local_socket(setup.data_dir)
    give_up = time.monotonic() + START_TIMEOUT_SECONDS
    while not is_listening(path):
        from gateway.errors import ConfigError

        try:
            stack.enter_context(held(setup.data_dir))
        except ConfigError:
            if time.monotonic() > give_up:
                raise
            await asyncio.sleep(_RETRY_INTERVAL_SECONDS)
        else:
            return await _opened_here(setup, stack, wait_ready)
    return httpx2.AsyncHTTPTransport(uds=str(path))


def is_listening(path: Path) -> bool:
    """Whether a portal takes connections on a local socket."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


async def _opened_here(
    setup: Setup, stack: AsyncExitStack, wait_ready: bool
) -> httpx2.AsyncBaseTransport:
    gc.disable()  # what is loaded from here on stays; PortalApp enables it once it is open
    import httpx2

    from gateway.app import PortalApp
    from gateway.observability import logs
    from gateway.server.local import Local

    # What goes wrong is told below in a line; PORCH_LOG shows the whole of it.
    logs.configure(setup.environment.log or "critical")
    if sys.stderr.isatty():
        click.echo("No portal runs on this data directory; opening it for this call ...", err=True)
    app = PortalApp(setup.portal, setup.data_dir)
    running = await stack.enter_async_context(app.opened(wait_ready=wait_ready, schedules=False))
    for plugin in (await running.board.report()).plugins:
        if plugin.health.state == "failed":
            click.echo(f"Warning: {plugin.name}: {plugin.health.detail}", err=True)
    return httpx2.ASGITransport(app=Local(app), raise_app_exceptions=False)
