"""Where an authorization server takes clients by their documents, it fetches the portal's."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme

from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import answering, until_offered
from tests.servers.serving import bound

TAKES_DOCUMENTS = {"client_id_metadata_document_supported": True}


@pytest.fixture
def guarded() -> Iterator[Guarded]:
    with guarded_server() as guarded:
        guarded.metadata = TAKES_DOCUMENTS
        yield guarded


async def test_a_portal_on_https_is_its_document(guarded: Guarded, tmp_path: Path) -> None:
    authority, listener = trustme.CA(), bound()
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    leaf = authority.issue_cert("localhost")
    leaf.cert_chain_pems[0].write_to_path(str(certificate))
    leaf.private_key_pem.write_to_path(str(key))
    guarded.trusting = ssl.create_default_context()
    authority.configure_trust(guarded.trusting)
    base = f"https://localhost:{listener.getsockname()[1]}"
    tls = {"ssl_certfile": certificate, "ssl_keyfile": key}
    async with portal_of(guarded, settings={"public_url": base}) as portal:
        async with answering(portal, listener, **tls):
            ana = await member(portal, "ana")
            away = await ana.leave()
            document = f"{base}/connect/upstreams/far/client.json"
            assert parse_qs(urlsplit(away).query)["client_id"] == [document]
            assert "far is connected." in await ana.back(await ana.arrive(away))
            await until_offered(portal, "far__add", tier="ana")
            assert (await ana.add()).structured == {"sum": 3}
    assert set(guarded.documents) == {document}
    assert guarded.registered == 0


async def test_a_portal_that_nobody_can_read_registers(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        assert "far is connected." in await ana.connect(guarded)
    assert guarded.documents == []
    assert guarded.applications == ["native"]  # it comes back to this machine
