import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Sequence

import pytest

from auth.document_fetcher import (
    MAX_CONCURRENT_FETCHES,
    MAX_DOCUMENT_BYTES,
    Fetcher,
    FetchFailed,
    FetchRefused,
    look_up,
)
from auth.public_addresses import is_public
from tests.servers.tls_documents import TlsDocuments, document, reply


@pytest.fixture
async def server() -> AsyncIterator[TlsDocuments]:
    async with TlsDocuments("client.example").serving() as server:
        server.answers["/client.json"] = document({"name": "Garden"}, "Cache-Control: max-age=600")
        yield server


def fetcher(server: TlsDocuments, *, seconds: float = 5.0) -> Fetcher:
    return Fetcher([server.authority], tls=server.trusting, resolve=server.resolve, seconds=seconds)


def finds(*addresses: str):
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


async def test_a_document_is_fetched_with_the_time_that_it_may_be_kept(server):
    found = await fetcher(server).fetch(server.url("/client.json"))
    assert found.content == {"name": "Garden"}
    assert found.max_age_s == 600


async def test_the_name_is_looked_up_once_and_is_the_one_that_the_server_sees(server):
    await fetcher(server).fetch(server.url("/client.json"))
    assert server.looked_up == [("client.example", server.port)]
    assert f"host: {server.authority}\r\n" in server.requests[0].lower()


async def test_a_request_carries_nothing_of_ours(server, monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine client.example login someone password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    server.answers["/client.json"] = document({}, "Set-Cookie: a=b; Path=/")
    here = fetcher(server)
    await here.fetch(server.url("/client.json"))
    await here.fetch(server.url("/client.json"))
    for request in server.requests:
        assert not {"cookie", "authorization"} & {
            line.partition(":")[0].lower() for line in request.splitlines()
        }


@pytest.mark.parametrize(
    "address",
    [
        "http://client.example/a",
        "https://someone@client.example/a",
        "https://@client.example/a",
        "https://client.example/a#part",
        "https://client.example:0/a",
        "https://client.example:99999/a",
        "https://client.example:x/a",
        "https:///a",
        "https:client.example/a",
        "https://client.example\\@other.example/a",
        "https://client.example/a b",
        "https://client.example/\r\nHost: other.example",
        "https://clïent.example/a",
        "file:///etc/hostname",
        "https://client.example/" + "a" * 2000,
        "",
    ],
)
async def test_an_address_of_another_shape_is_refused_before_anything_is_asked(server, address):
    with pytest.raises(FetchRefused):
        await fetcher(server).fetch(address)
    assert server.looked_up == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::8.8.8.8",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "2002:7f00:1::",
        "2002:808:808::",
        "2001:0:808:808::1",
        "2001:db8::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%lo",
        "fec0::1",
        "ff02::1",
        "nonsense",
    ],
)
async def test_a_name_on_an_address_that_is_not_public_is_refused(server, address):
    assert not is_public(address)
    here = Fetcher(tls=server.trusting, resolve=finds("8.8.8.8", address))
    with pytest.raises(FetchRefused, match=r"^client.example is not found on the public internet"):
        await here.fetch("https://client.example/a")


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]"])
async def test_an_unusual_way_to_write_loopback_is_refused_as_loopback_is(host):
    with pytest.raises(FetchRefused, match=r"public internet|cannot be read"):
        await Fetcher().fetch(f"https://{host}/a")


async def test_a_name_that_does_not_exist_is_refused_in_the_same_words_as_a_private_one():
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    reasons = set()
    for resolve in (nowhere, finds(), finds("10.0.0.1")):
        with pytest.raises(FetchRefused) as refused:
            await Fetcher(resolve=resolve).fetch("https://intranet.example/a")
        reasons.add(refused.value.reason)
    assert len(reasons) == 1


async def test_a_private_host_is_allowed_for_the_port_that_is_named(server):
    here = Fetcher(["client.example:1"], tls=server.trusting, resolve=server.resolve, seconds=5)
    with pytest.raises(FetchRefused):
        await here.fetch(server.url("/client.json"))
    any_port = Fetcher(["Client.Example"], tls=server.trusting, resolve=server.resolve)
    assert (await any_port.fetch(server.url("/client.json"))).content


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
async def test_a_host_on_this_machine_is_found_by_the_system_where_it_is_allowed(name):
    async with TlsDocuments(name).serving() as server:
        server.answers["/client.json"] = document({"name": "Garden"})
        here = Fetcher([server.authority], tls=server.trusting)
        assert (await here.fetch(server.url("/client.json"))).content == {"name": "Garden"}


async def test_an_ipv6_address_is_allowed_as_it_is_written_in_an_address():
    with pytest.raises(FetchFailed, match="::1 did not answer"):
        await Fetcher(["[::1]:1"], tls=ssl.create_default_context()).fetch("https://[::1]:1/a")


async def test_a_second_address_is_tried_where_the_first_does_not_take_connections(server):
    here = Fetcher([server.authority], tls=server.trusting, resolve=finds("127.0.0.2", "127.0.0.1"))
    assert (await here.fetch(server.url("/client.json"))).content


async def test_a_certificate_of_nobody_known_is_not_accepted(server):
    here = Fetcher([server.authority], tls=ssl.create_default_context(), resolve=server.resolve)
    with pytest.raises(FetchFailed, match="did not answer"):
        await here.fetch(server.url("/client.json"))
    assert server.requests == []


async def test_a_certificate_for_another_name_is_not_accepted(server):
    here = Fetcher(["other.example"], tls=server.trusting, resolve=server.resolve)
    with pytest.raises(FetchFailed, match="did not answer"):
        await here.fetch(f"https://other.example:{server.port}/client.json")
    assert server.requests == []


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_not_followed(server, status):
    server.answers["/moved"] = reply(
        b"{}", f"Location: {server.url('/client.json')}", status=status
    )
    with pytest.raises(FetchFailed, match="redirect"):
        await fetcher(server).fetch(server.url("/moved"))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"{}", status="404 Not Found"),
        reply(b"{}", status="201 Created"),
        reply(b"{}", kind="text/html"),
        reply(b"{}", kind="application/jsonp"),
        reply(b"[]"),
        reply(b"{"),
        reply(b""),
        reply(b'{"a": NaN}'),
        reply(b"[" * 60_000),
        reply(b'{"secret": "of the inside"'),
        reply(gzip.compress(b"{}"), "Content-Encoding: gzip"),
        reply(gzip.compress(b" " * 50_000_000), "Content-Encoding: gzip"),
        b"nonsense\r\n\r\n",
        b"",
    ],
)
async def test_anything_but_a_json_object_is_a_failure_that_repeats_nothing(server, answer):
    server.answers["/odd"] = answer
    with pytest.raises(FetchFailed) as failed:
        await fetcher(server).fetch(server.url("/odd"))
    assert "secret" not in failed.value.reason
    assert "404" not in failed.value.reason


@pytest.mark.parametrize("kind", ["application/client-metadata+json", "Application/JSON; q=1"])
async def test_the_types_of_json_are_known(server, kind):
    server.answers["/typed"] = reply(b"{}", kind=kind)
    assert (await fetcher(server).fetch(server.url("/typed"))).content == {}


async def test_a_document_that_never_ends_is_read_to_the_limit_and_no_further(server):
    written = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not writer.is_closing():
            writer.write(b" " * 4096)
            await writer.drain()
            written += 4096

    server.answers["/endless"] = endless
    with pytest.raises(FetchFailed, match="more than 64 KiB"):
        await fetcher(server).fetch(server.url("/endless"))
    # What the system's buffers took beyond the limit is never read.
    assert written < MAX_DOCUMENT_BYTES + 16 * 2**20


async def test_a_document_that_drips_is_given_up(server):
    async def dripping(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{")
        while not writer.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    server.answers["/dripping"] = dripping
    with pytest.raises(FetchFailed, match="in time"):
        await fetcher(server, seconds=0.3).fetch(server.url("/dripping"))


async def test_a_name_that_nobody_answers_for_is_given_up():
    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(FetchFailed, match="in time"):
        await Fetcher(resolve=never, seconds=0.05).fetch("https://client.example/a")


async def test_few_fetches_go_on_at_a_time():
    asked = 0
    go_on = asyncio.Event()

    async def waiting(host: str, port: int) -> Sequence[str]:
        nonlocal asked
        asked += 1
        await go_on.wait()
        return []

    here = Fetcher(tls=ssl.create_default_context(), resolve=waiting)
    fetches = [asyncio.create_task(here.fetch(f"https://{n}.example/")) for n in range(50)]
    for _ in range(100):  # turns of the event loop, more than it takes to ask
        await asyncio.sleep(0)
    assert asked == MAX_CONCURRENT_FETCHES
    go_on.set()
    results = await asyncio.gather(*fetches, return_exceptions=True)
    assert all(isinstance(each, FetchRefused) for each in results)


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("max-age=60", 60),
        ("public, max-age=3600", 3600),
        ("no-store", 0),
        ("max-age=60, no-cache", 0),
        ("s-maxage=9", None),
        ("nonsense", None),
    ],
)
async def test_how_long_a_document_may_be_kept_is_read_from_cache_control(server, control, seconds):
    server.answers["/kept"] = document({}, f"Cache-Control: {control}")
    assert (await fetcher(server).fetch(server.url("/kept"))).max_age_s == seconds


async def test_the_system_is_asked_for_names():
    assert "127.0.0.1" in await look_up("localhost", 443) or "::1" in await look_up(
        "localhost", 443
    )
