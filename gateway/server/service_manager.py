"""What a service manager that waits for it is told (sd_notify(3), systemd's protocol)."""

from __future__ import annotations

import os
import socket
from contextlib import suppress


def tell_ready() -> None:
    """Say that the portal answers, where a service manager waits to hear it."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # A name that begins with @ is in the abstract namespace, whose names begin with NUL.
    place = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told, suppress(OSError):
        told.sendto(b"READY=1", place)
