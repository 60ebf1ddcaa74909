"""A port that is about to close, at real sockets on loopback."""

from __future__ import annotations

import errno
import select
import socket
import sys

import pytest

from gateway.server.handshakes import drop_handshakes
from tests.servers.serving import bound

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")
PATIENCE_SECONDS = 60


def test_who_has_connected_is_served_and_who_has_not_is_refused_once_the_port_is_closed() -> None:
    with bound() as listener, socket.socket() as late:
        listener.listen()
        listener.setblocking(True)
        address = listener.getsockname()
        with socket.create_connection(address) as early:
            early.sendall(b"before")
            drop_handshakes(listener)
            late.setblocking(False)
            assert late.connect_ex(address) == errno.EINPROGRESS
            early.sendall(b" and after")
            accepted, _ = listener.accept()
            with accepted:
                assert accepted.recv(16, socket.MSG_WAITALL) == b"before and after"
                accepted.sendall(b"answer")
                assert early.recv(6, socket.MSG_WAITALL) == b"answer"
            listener.close()
        _, done, _ = select.select([], [late], [], PATIENCE_SECONDS)
        assert done, "TCP asked again, and was answered"
        assert late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNREFUSED
