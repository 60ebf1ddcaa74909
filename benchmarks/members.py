"""A portal whose callers have credentials of every kind, made by the portal's own parts.

``python -m benchmarks.members DIRECTORY PORT`` serves the one in a directory.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auth import StaticTokens
from auth.callers import Account
from auth.stores import Code, Grant, digest, utc_now
from auth.tiers import Tier
from benchmarks.peers import plugin_module, serve_portal
from gateway.assembly import open_portal
from gateway.config.portal import Portal, load_portal

if TYPE_CHECKING:
    from gateway.identity.authentication import Authentication

AUDIENCE = "benchmark"
"""What the other issuer's tokens are for."""
STATIC_TOKENS = "static-tokens"
"""The file in a portal's directory that lists its static tokens."""

ISSUER = "https://id.example.org"
"""The other issuer's name; its keys are served on loopback."""

_TIERS = """\
default: open
access:
  public: {any_of: [signed_in]}
  members: {any_of: [%s]}
"""
_DAY = timedelta(days=1)


def address(number: int) -> str:
    """A wallet's address. Its digits have no case, so it is right by EIP-55 as it is."""
    return f"0x{number:040d}"


def wallet(number: int) -> Account:
    """The account of that wallet."""
    return Account.of_key(address(number))


def configure(
    place: Path, port: int, *, issuer: Issuer | None = None, hat: str | None = None
) -> Portal:
    """Write the configuration of a portal in a directory, and read it.

    Args:
        place: the directory.
        port: where the portal will listen, which is part of its address.
        issuer: another issuer whose tokens it accepts.
        hat: a hat whose wearers are members as well. No chain is set up, so who wears it stays
            unknown; what is unknown is remembered as what is known is.
    """
    config = place / "config"
    config.mkdir()
    rules = [f'{{address: "{address(1)}"}}'] + ([] if hat is None else [f'{{hat: "{hat}"}}'])
    (config / "tiers.yaml").write_text(_TIERS % ", ".join(rules))
    accepted = [] if issuer is None else [issuer.accepted()]
    # JSON is YAML.
    (config / "portal.yaml").write_text(json.dumps({"sign_in": {"accept": accepted}}))
    return load_portal(config, {"listen": {"port": port}})


class Issuer:
    """Another issuer of JWTs: its keys are served on loopback while :meth:`serving`."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import rsa
        from jwt.algorithms import RSAAlgorithm

        self._private = rsa.generate_private_key(65537, 2048)
        jwk = RSAAlgorithm.to_jwk(self._private.public_key(), as_dict=True)
        published = json.dumps({"keys": [{**jwk, "kid": "one", "use": "sig", "alg": "RS256"}]})

        class Keys(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(published.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
        self._keys = f"http://127.0.0.1:{self._server.server_port}/jwks"

    @contextmanager
    def serving(self) -> Generator[None]:
        """Serve the keys while the block lasts."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def accepted(self) -> dict[str, Any]:
        """What ``portal.yaml`` says under ``sign_in: accept:`` of this issuer."""
        return {"issuer": ISSUER, "audience": AUDIENCE, "jwks_url": self._keys}

    def token(self, subject: str) -> str:
        """A token of a subject, good for an hour."""
        import jwt

        now = int(time.time())
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 3600}
        return jwt.encode(said, self._private, "RS256", {"kid": "one"})


async def credentials(
    place: Path, portal: Portal, issuer: Issuer, each: int
) -> Mapping[str, Sequence[str]]:
    """So many tokens of every kind, each another person's; the portal does not run yet.

    Args:
        place: the portal's directory.
        portal: its configuration.
        issuer: the other issuer that it accepts.
        each: how many of a kind.

    Returns:
        The tokens, by the kind of credential as ``Identity.provider`` names it.
    """
    static = [secrets.token_urlsafe(16) for _ in range(each)]
    (place / STATIC_TOKENS).write_text(",".join(f"members:{token}" for token in static))
    async with open_portal(portal, place / "data", modules=[plugin_module(1)]) as running:
        who, url = running.authentication, portal.config.url
        numbers = range(1, 2 * each + 1)
        return {
            "static-token": static,
            "api-token": [await _api_token(who, number) for number in numbers[::2]],
            "access-token": [await _access_token(who, number, url) for number in numbers[1::2]],
            "oidc": [issuer.token(f"subject-{number}") for number in range(each)],
        }


async def _api_token(who: Authentication, number: int) -> str:
    person = await who.accounts.sign_in(wallet(number))
    expires = utc_now() + _DAY
    _, text = await who.api_tokens.create(
        person.id, "benchmark", ceiling=Tier.MEMBERS, expires=expires
    )
    return text


async def _access_token(who: Authentication, number: int, url: str) -> str:
    person = await who.accounts.sign_in(wallet(number))
    grant = grant_of(f"grant-{number}", person.id, url)
    code = Code(grant.id, "http://127.0.0.1/callback", False, "challenge", grant.created + _DAY)
    await who.stores.grants.add(grant, code, digest(grant.id))
    return who.access_tokens.issue(grant, url)[0]


def grant_of(grant_id: str, person: str, url: str) -> Grant:
    """A person's consent to a client, for everything at the portal of that address."""
    scope = ("public", "members")
    return Grant(grant_id, person, "benchmark", "Benchmark", url, scope, utc_now())


def main() -> None:
    """Serve the portal that the command line names."""
    place = Path(sys.argv[1])
    tokens = StaticTokens.parse((place / STATIC_TOKENS).read_text())
    serve_portal(place, int(sys.argv[2]), plugin_module(1), tokens=tokens)


if __name__ == "__main__":
    main()
