"""Runs the portal: on a TCP port for everyone, on a local socket for its own user."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn

from gateway.config.portal_keys import PortalConfig
from gateway.errors import ConfigError, Problem
from gateway.server.acceptor import Acceptor
from gateway.server.connections import (
    BoundedProtocol,
    allow_open_files,
    bounded_protocol,
    is_idle,
)
from gateway.server.data_directory import local_socket
from gateway.server.drain import Drain
from gateway.server.handshakes import drop_handshakes
from gateway.server.local import Local

if TYPE_CHECKING:
    from gateway.app import PortalApp
    from gateway.plugin_host import PluginHost
    from gateway.server.worker import Worker

_MAX_MESSAGE_BYTES = 64 * 1024
"""Bytes of one WebSocket message; no surface reads any, so few are accepted."""
_GC_THRESHOLD_OBJECTS = 20_000
"""Objects that may be new before the garbage collector looks through them."""
_BACKLOG_CONNECTIONS = 2048
"""Connections that may wait to be accepted."""
_OTHER_OPEN_FILES = 1024
"""Files that may be open beside connections."""
_UNREAD_TIMEOUT_SECONDS = 60
"""Seconds after which a connection breaks whose client takes nothing of what was sent to it."""


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to :func:`serve`.

    uvicorn raises a signal again once it has stopped, which would end the process before the
    portal has closed its plugins and services.
    """

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Public(_Server):
    """The server for everyone; says when it listens and when it begins to stop.

    Args:
        config: how it serves.
        stopping: called when it begins to stop.
        shared: the socket, where other processes accept on it too.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        stopping: Callable[[], None],
        shared: socket.socket | None = None,
    ) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._shared = shared
        self.listening = asyncio.Event()
        self._listeners = [shared] if shared is not None else []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._listeners += sockets or []
        await super().startup(sockets)
        if self._shared is not None:
            acceptor: Any = Acceptor(self._shared, self._protocol)
            self.servers.append(acceptor)
        self.listening.set()

    def _protocol(self) -> asyncio.Protocol:
        made: Any = self.config.http_protocol_class
        return made(config=self.config, server_state=self.server_state, app_state={})  # type: ignore[no-any-return]

    def hold(self) -> None:
        """Let no new connection begin; those that have begun are accepted."""
        for listener in self._listeners:
            drop_handshakes(listener)

    def leave(self) -> None:
        """Accept no more, and end each connection with its next answer.

        What other processes accept on the same socket is theirs.
        """
        for server in self.servers:
            server.close()
        for listener in self._listeners:
            listener.close()
        protocol: Any = self.config.http_protocol_class
        protocol.is_ending = True
        for connection in self.server_state.connections:
            if isinstance(connection, BoundedProtocol):  # the others are WebSockets
                connection.end_with_answer()

    def idle(self) -> int:
        """How many connections wait for a request."""
        return sum(is_idle(each) for each in self.server_state.connections)

    def stop(self) -> None:
        """End, finishing calls in flight; the second time, without them."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        await super().shutdown(sockets)


async def serve(
    app: PortalApp,
    config: PortalConfig,
    data_dir: Path,
    ready: Callable[[int], None],
    tcp: socket.socket | None = None,
    worker: Worker | None = None,
) -> None:
    """Serve until a signal says to stop; then finish the calls in flight.

    Args:
        app: the portal.
        config: where to listen, and how long calls in flight may go on at the end.
        data_dir: the data directory, which the caller holds.
        ready: called with the TCP port once the portal listens.
        tcp: what :func:`listen` gave; without it the portal begins to listen here.
        worker: this process as one of several on the port, which a supervisor leads.

    Raises:
        ConfigError: the port is taken, or the address is not this machine's.
    """
    # A call leaves no cycles behind, so the collector, which by default looks every 700 objects,
    # may look at more of them at a time.
    gc.set_threshold(_GC_THRESHOLD_OBJECTS, *gc.get_threshold()[1:])
    allow_open_files(config.limits.connections.total + _OTHER_OPEN_FILES)
    with tcp or listen(config) as tcp, _unix(local_socket(data_dir)) as unix:
        async with app.opened(wait=False) as running:
            shared = tcp if worker is not None else None
            public = _Public(_uvicorn(app, config), app.stopping, shared)
            drain = Drain(public, config.limits, running.board.stop)
            local = _Server(_uvicorn(Local(app), config))
            serving_local = asyncio.create_task(local.serve([unix]))
            if worker is not None:
                await worker.before_listening(running)
            elif config.limits.drain and not await _are_tried(running.plugins):
                local.should_exit = True
                await serving_local
                return
            serving = asyncio.create_task(public.serve([tcp] if shared is None else []))
            listening = asyncio.create_task(public.listening.wait())
            await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
            if listening.done():
                if worker is None:
                    drain.follow_signals()
                else:
                    worker.follow(drain)
                await app.answering()
                ready(tcp.getsockname()[1])
            await asyncio.wait({serving})
            listening.cancel()
            local.should_exit = True
            await asyncio.gather(serving, serving_local)


async def _are_tried(plugins: PluginHost) -> bool:
    """Wait until the plugins are open or late; false where SIGTERM comes first."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread
        loop.add_signal_handler(signal.SIGTERM, told.set)
    waits = [asyncio.create_task(plugins.tried()), asyncio.create_task(told.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for each in waits:
        each.cancel()
    with contextlib.suppress(RuntimeError, ValueError):
        loop.remove_signal_handler(signal.SIGTERM)
    return not told.is_set()


def _uvicorn(app: Any, config: PortalConfig) -> uvicorn.Config:
    proxies = [str(each) for network in config.trusted_proxies for each in _as_seen(network)]
    connections = config.limits.connections
    return uvicorn.Config(
        app,
        http=bounded_protocol(
            connections.headers.total_seconds(),
            connections.idle.total_seconds(),
            connections.waiting,
        ),
        limit_concurrency=connections.total,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        timeout_graceful_shutdown=int(config.limits.shutdown.total_seconds()) or 1,
        # What goes out over a WebSocket goes to each client anew; compressing it costs each time.
        ws_per_message_deflate=False,
        ws_max_size=_MAX_MESSAGE_BYTES,
    )


def _as_seen(network: IPv4Network | IPv6Network) -> Iterator[IPv4Network | IPv6Network]:
    """A network as the portal sees it: IPv4 has two forms, the other where it listens on IPv6."""
    yield network
    if isinstance(network, IPv4Network):
        yield IPv6Network(f"::ffff:{network.network_address}/{96 + network.prefixlen}")


def listen(config: PortalConfig, *, alone: bool = False) -> socket.socket:
    """Take the port for everyone; who connects waits until :func:`serve` answers.

    A portal with ``limits.drain`` has others beside it: until it answers it refuses connections,
    so that a balancer sends the request to one of them.

    Args:
        config: where to listen.
        alone: whether connections wait all the same.

    Raises:
        ConfigError: the port is taken, or the address is not this machine's.
    """
    host, port = config.listen.host, config.listen.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tcp = socket.socket(family, socket.SOCK_STREAM)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; each connection has it from the listener
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD_TIMEOUT_SECONDS * 1000)
    try:
        tcp.bind((host, port))
    except OSError as error:
        tcp.close()
        reason = f"cannot listen on {host}:{port}: {error.strerror}; choose another with --port"
        raise ConfigError([Problem("portal.yaml", 0, "listen", reason)]) from None
    if alone or not config.limits.drain:
        tcp.listen(_BACKLOG_CONNECTIONS)
    tcp.setblocking(False)
    return tcp


def point_local_socket(data_dir: Path, target: Path | None) -> None:
    """Have a data directory's local socket lead to a worker's, or nowhere."""
    path = local_socket(data_dir)
    if target is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    draft.symlink_to(target)
    draft.replace(path)


@contextmanager
def _unix(path: Path) -> Generator[socket.socket]:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.parent.stat().st_uid != os.getuid():
        raise ConfigError([Problem(str(path.parent), 0, "", "is not this user's directory")])
    with contextlib.suppress(FileNotFoundError):
        if path.is_symlink() or stat.S_ISSOCK(path.stat().st_mode):  # a link leads to a worker's
            path.unlink()
    unix = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with unix:
        before = os.umask(0o177)
        try:
            unix.bind(str(path))
        finally:
            os.umask(before)
        unix.listen(64)
        unix.setblocking(False)
        try:
            yield unix
        finally:
            path.unlink(missing_ok=True)
