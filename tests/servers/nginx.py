"""A real nginx with the configuration that the admins' pages show."""

from __future__ import annotations

import asyncio
import getpass
import re
import shutil
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import trustme

from benchmarks.processes import free_port

PAGE = Path(__file__).parents[2] / "docs" / "admins" / "reverse-proxy.md"
HOST = "portal.example.org"
PROGRAM = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")

_MAIN = """
daemon off;
{user}
pid {place}/pid;
error_log {place}/errors;
worker_processes 1;
events {{}}
http {{
log_format upstreams "$status $request_time $upstream_addr $upstream_status";
access_log {place}/access upstreams;
{temporary}
{shown}
}}
"""
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def shown(page: Path, *starts: str) -> list[str]:
    """The blocks of nginx's configuration on a page that begin with some words."""
    blocks = re.findall(r"```nginx\n(.*?)```", page.read_text(), re.DOTALL)
    return [next(each for each in blocks if each.startswith(start)) for start in starts]


def _put(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert text.count(old) == 1, f"{PAGE.name} has {old!r} once"
        text = text.replace(old, new)
    return text


def _write(place: Path, certificate: trustme.LeafCert, port: int, replicas: Sequence[int]) -> Path:
    """Write the configuration and what it names; its path."""
    place.mkdir()
    certificate.private_key_pem.write_to_path(str(place / "key.pem"))
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(str(place / "chain.pem"), append=True)
    upstream, server = shown(PAGE, "upstream portal", "map ")
    upstream = _put(upstream, *((f":{8321 + n}", f":{each}") for n, each in enumerate(replicas)))
    server = _put(
        server,
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;"),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", f"{place}/chain.pem"),
        (f"/etc/letsencrypt/live/{HOST}/privkey.pem", f"{place}/key.pem"),
        ("proxy_pass http://127.0.0.1:8321;", "proxy_pass http://portal;"),
    )
    temporary = "\n".join(f"{each}_temp_path {place}/{each};" for each in _TEMPORARY)
    user = "user root;" if getpass.getuser() == "root" else ""
    written = place / "nginx.conf"
    written.write_text(
        _MAIN.format(place=place, user=user, temporary=temporary, shown=upstream + server)
    )
    return written


@asynccontextmanager
async def balancing(
    place: Path, replicas: Sequence[int]
) -> AsyncIterator[tuple[str, ssl.SSLContext]]:
    """nginx before two portals, as :data:`PAGE` says but for ports and the certificate's place.

    Args:
        place: a directory of its own.
        replicas: the portals' ports on loopback.

    Yields:
        Its URL and a TLS context that trusts its certificate, whatever it is called by.
    """
    assert PROGRAM is not None
    authority, port = trustme.CA(), free_port()
    written = _write(place, authority.issue_cert(HOST), port, replicas)
    process = await asyncio.create_subprocess_exec(
        PROGRAM, "-p", place, "-c", written, stderr=asyncio.subprocess.PIPE
    )
    try:
        await _listens(process, port)
        trusting = ssl.create_default_context()
        authority.configure_trust(trusting)
        trusting.check_hostname = False
        yield f"https://127.0.0.1:{port}", trusting
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _listens(process: asyncio.subprocess.Process, port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                assert process.stderr is not None
                assert process.returncode is None, (await process.stderr.read()).decode()
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
