"""A cable to a real server, which can be cut, frozen, slowed and joined again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, create_connection, socket
from urllib.parse import urlsplit


class Cable:
    """A TCP connection to a real server that can be cut and joined again.

    Args:
        url: where the server is.

    Attributes:
        url: where the cable begins: the same URL with its own address.
        delay_seconds: how long each piece of data takes.
    """

    def __init__(self, url: str) -> None:
        self.delay_seconds = 0.0
        address = urlsplit(url)
        self._target = (address.hostname or "127.0.0.1", address.port or 0)
        self._joined = True
        self._flowing = threading.Event()
        self._flowing.set()
        self._ends: list[socket] = []
        self._listening = socket()
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen()
        self.url = url.replace(
            f"{address.hostname}:{address.port}",
            f"127.0.0.1:{self._listening.getsockname()[1]}",
        )
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self) -> None:
        """End every connection, and accept none."""
        self._joined = False
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(SHUT_RDWR)

    def join(self) -> None:
        """Accept connections again."""
        self._joined = True

    def freeze(self) -> None:
        """Carry nothing more, and tell nobody: a dead line that looks alive."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Carry again, also what was sent meanwhile."""
        self._flowing.set()

    def addresses(self) -> set[str]:
        """Where its connections come from, as the server sees them."""
        return {f"{far.getsockname()[0]}:{far.getsockname()[1]}" for far in self._ends[1::2]}

    def close(self) -> None:
        """Free the sockets, once nobody carries between them."""
        with suppress(OSError):
            self._listening.shutdown(SHUT_RDWR)  # wakes who accepts; closing alone does not
        self.cut()
        self.thaw()
        for thread in self._threads:
            thread.join(5)
        for each in (self._listening, *self._ends):
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if not self._joined:
                    near.close()
                    continue
                far = create_connection(self._target)
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    carry = threading.Thread(target=self._carry, args=(one, other), daemon=True)
                    self._threads.append(carry)
                    carry.start()

    def _carry(self, one: socket, other: socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                self._flowing.wait()
                if self.delay_seconds:
                    time.sleep(self.delay_seconds)
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(SHUT_RDWR)


@contextmanager
def cabled(url: str) -> Iterator[Cable]:
    """A cable to the server at a URL, for as long as the block lasts."""
    cable = Cable(url)
    try:
        yield cable
    finally:
        cable.close()
