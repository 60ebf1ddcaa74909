"""Closing a port without a loss.

The kernel shakes hands for a port that listens, and keeps the connections until they are accepted.
Closing the port resets those that came since the last one was accepted, with what their clients
have sent already. So before the port is closed, the kernel is told to drop what begins a
connection. A client that hears nothing asks again a second later, and is refused, having sent
nothing: any balancer takes that to another replica.
"""

from __future__ import annotations

import ctypes
import socket
import struct
import sys
from contextlib import suppress

_SO_ATTACH_FILTER = 26
"""Linux, asm-generic/socket.h; Python has no name for it."""
_DROP_SYN = (
    (0x30, 0, 0, 13),  # load the byte of the TCP header that holds the flags (RFC 9293, 3.1)
    (0x54, 0, 0, 0x12),  # leave SYN and ACK of them
    (0x15, 0, 1, 0x02),  # SYN alone begins a connection:
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # else take all
)
"""A classic BPF program (bpf(4), the kernel's networking/filter.rst): code, jumps, operand."""


def drop_handshakes(listener: socket.socket) -> None:
    """Have the kernel drop what would begin a connection to a socket that listens.

    It holds for every process that has the socket, and cannot be taken back by closing it in one.
    Systems but Linux, and sandboxes that refuse it, go on as before.

    Args:
        listener: a TCP socket that listens.
    """
    if sys.platform != "linux":
        return
    program = b"".join(struct.pack("HBBI", *each) for each in _DROP_SYN)
    buffer = ctypes.create_string_buffer(program, len(program))
    with suppress(OSError):
        wanted = struct.pack("HP", len(_DROP_SYN), ctypes.addressof(buffer))
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, wanted)
