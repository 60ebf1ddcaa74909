"""Whether ``porch doctor`` sees that nobody reaches a portal that runs well."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.processes import free_port
from gateway.cli.public_address import of_address
from gateway.observability.diagnosis import Weight


class Proxy(BaseHTTPRequestHandler):
    """Answers as the server says, as a proxy does whose portal is here, away or another's."""

    answer = (200, b'{"status":"ok"}')

    def do_GET(self) -> None:
        status, body = self.answer
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def proxy() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


async def test_a_balancer_that_is_down_is_found() -> None:
    [found] = await of_address(f"http://127.0.0.1:{free_port()}")
    assert found.weight == Weight.RISK
    assert "does not lead to the portal from here" in found.what
    assert "proxy or balancer" in found.todo


@pytest.mark.parametrize("answer", [(502, b"Bad Gateway"), (200, b"<h1>Parked</h1>")])
async def test_one_that_answers_by_itself_is_found(
    proxy: str, answer: tuple[int, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await of_address(proxy) == []
    monkeypatch.setattr(Proxy, "answer", answer)
    [found] = await of_address(proxy)
    assert f"{answer[0]} for /healthz" in found.what
