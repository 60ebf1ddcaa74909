"""Who asks a portal that ends at that moment is told what that means for what they asked."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.options import EXIT
from gateway.server.data_directory import local_socket
from tests.gateway.cli.conftest import Run


@contextlib.contextmanager
def ending(place: Path, *, answers: int) -> Iterator[Path]:
    """A local socket of a portal that ends: it lets so many connect, and answers none of them."""
    path = local_socket(place / "data")
    path.parent.mkdir(parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(8)

    def let_go() -> None:
        for _ in range(answers):
            taken, _ = listener.accept()
            if answers > 1:
                taken.recv(65536)
            taken.close()
        path.unlink()
        listener.close()

    thread = threading.Thread(target=let_go, daemon=True)
    thread.start()
    yield path
    thread.join(60)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (1, "is just ending: it takes no more requests, and has not had this one. Run the command"),
        (2, "ended before it answered, so what was asked may be done or not. Look before you run"),
    ],
    ids=["its socket is gone", "it is gone before it answers"],
)
def test_a_call_to_a_portal_that_is_ending_says_who_must_do_what(
    porch: Run, place: Path, answers: int, told: str
) -> None:
    with ending(place, answers=answers):
        called = porch("call", "search_knowledge", "query=sow")
    assert called.exit_code == EXIT.PROBLEM
    assert f"The portal on {place / 'data'} {told}" in called.stderr
    assert "Unexpected" not in called.stderr


def test_a_portal_that_is_ending_is_none_to_look_at(porch: Run, place: Path) -> None:
    with ending(place, answers=2):
        found = porch("status")
    assert found.exit_code == EXIT.PROBLEM
    assert "No portal runs on" in found.output
