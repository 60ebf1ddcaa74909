"""A Git host on loopback, over TLS: serves the bare repositories of a directory."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme


class GitHost:
    """The server.

    Attributes:
        root: the directory of the repositories, ``owner/name.git`` each.
        ca_file: the certificate of the authority that vouches for it.
        netloc: its host and port.
        password: what it asks for, of anyone, or None.
        leads_to: where it redirects every request, or None.
        authorizations: the ``Authorization`` header of each request so far, or "".
        paths: the path of each request so far.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ca_file = root / "authority.pem"
        self.netloc = ""
        self.password: str | None = None
        self.leads_to: str | None = None
        self.authorizations: list[str] = []
        self.paths: list[str] = []

    def url(self, name: str) -> str:
        """The address of a repository."""
        return f"https://{self.netloc}/{name}"

    @contextmanager
    def serving(self) -> Iterator[GitHost]:
        """Answer until left."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.ca_file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(context)
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.answer(self, b"")

            def do_POST(self) -> None:
                host.answer(self, self.rfile.read(int(self.headers.get("content-length", 0))))

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.netloc = f"localhost:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join(10)

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        given = handler.headers.get("authorization", "")
        self.authorizations.append(given)
        self.paths.append(handler.path)
        if self.leads_to is not None:
            self._refuse(handler, 302, "location", self.leads_to + handler.path)
        elif self.password is not None and not self._right(given):
            self._refuse(handler, 401, "www-authenticate", 'Basic realm="garden"')
        else:
            self._serve(handler, body)

    def _right(self, given: str) -> bool:
        try:
            return (
                base64.b64decode(given.removeprefix("Basic "))
                .decode()
                .endswith(f":{self.password}")
            )
        except ValueError:
            return False

    def _refuse(self, handler: BaseHTTPRequestHandler, status: int, name: str, value: str) -> None:
        handler.send_response(status)
        handler.send_header(name, value)
        handler.send_header("content-length", "0")
        handler.end_headers()

    def _serve(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        path, _, query = handler.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": handler.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": handler.headers.get("git-protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, env=environment, check=False
        )
        head, _, answer = done.stdout.partition(b"\r\n\r\n")
        headers = [line.partition(": ") for line in head.decode().split("\r\n") if line]
        status = next((value for name, _, value in headers if name == "Status"), "200")
        handler.send_response(int(status[:3]))
        for name, _, value in headers:
            if name != "Status":
                handler.send_header(name, value)
        handler.send_header("content-length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)
