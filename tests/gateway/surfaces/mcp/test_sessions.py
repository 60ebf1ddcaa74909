import pytest

from auth import ANONYMOUS, Caller, Tier
from gateway.services.cache.address import open_cache
from gateway.surfaces.mcp import sessions as module
from gateway.surfaces.mcp.push_stream import Feed
from gateway.surfaces.mcp.sessions import Sessions

KEY = b"k" * 32
MEMBER = Caller(person="token:ci", tier=Tier.MEMBERS)
OTHER = Caller(person="token:other", tier=Tier.MEMBERS)
CAPABILITIES = {"sampling": {}, "elicitation": {"form": {}}, "experimental": {"x": 1}}


@pytest.fixture
def cache():
    return open_cache("memory")


@pytest.fixture
def sessions(cache) -> Sessions:
    return Sessions(KEY, cache)


async def test_a_session_is_found_by_its_own_caller_only(sessions):
    session = sessions.begin(MEMBER, "2025-11-25", {})
    assert await sessions.find(session.id, MEMBER) is session
    assert await sessions.find(session.id, ANONYMOUS) is None


async def test_a_session_begun_by_a_stranger_becomes_that_of_the_first_who_signs_in(sessions):
    session = sessions.begin(ANONYMOUS, "2025-11-25", {})
    outbox = Feed()
    with session.stream(outbox):
        assert await sessions.find(session.id, MEMBER) is session
        assert outbox.closed
    assert await sessions.find(session.id, OTHER) is None
    assert await sessions.find(session.id, ANONYMOUS) is None


async def test_whose_it_has_become_is_known_to_another_replica(sessions, cache):
    session = sessions.begin(ANONYMOUS, "2025-11-25", {})
    await sessions.find(session.id, MEMBER)
    assert await Sessions(KEY, cache).find(session.id, ANONYMOUS) is None
    assert await Sessions(KEY, cache).find(session.id, OTHER) is None
    assert await Sessions(KEY, cache).find(session.id, MEMBER) is not None


async def test_another_replica_takes_a_session_up_from_its_id(sessions, cache):
    session = sessions.begin(MEMBER, "2025-06-18", CAPABILITIES)
    elsewhere = await Sessions(KEY, cache).find(session.id, MEMBER)
    assert elsewhere is not None
    assert elsewhere.version == "2025-06-18"
    assert elsewhere.capabilities == {"sampling": {}, "elicitation": {"form": {}}}


async def test_an_ended_session_is_unknown_here_and_on_another_replica(sessions, cache):
    session = sessions.begin(MEMBER, "2025-11-25", {})
    await sessions.end(session)
    assert await sessions.find(session.id, MEMBER) is None
    assert await Sessions(KEY, cache).find(session.id, MEMBER) is None


async def test_a_replica_that_knows_the_session_hears_of_its_end(sessions, cache, monkeypatch):
    monkeypatch.setattr(module, "RECHECK_SECONDS", 0)
    elsewhere = Sessions(KEY, cache)
    session = sessions.begin(MEMBER, "2025-11-25", {})
    assert await elsewhere.find(session.id, MEMBER) is not None
    await sessions.end(session)
    assert await elsewhere.find(session.id, MEMBER) is None


@pytest.mark.parametrize("forged", ["", "x", "e30.abc", "a.b.c", "é.é", "." * 50])
async def test_a_forged_id_is_unknown(sessions, forged):
    assert await sessions.find(forged, MEMBER) is None


async def test_an_id_signed_with_another_key_is_unknown(sessions, cache):
    foreign = Sessions(b"other" * 8, cache).begin(MEMBER, "2025-11-25", {})
    assert await sessions.find(foreign.id, MEMBER) is None


async def test_an_old_session_is_over(sessions, monkeypatch):
    session = sessions.begin(MEMBER, "2025-11-25", {})
    monkeypatch.setattr(module, "SESSION_LIFETIME_SECONDS", -1)
    assert await sessions.find(session.id, MEMBER) is None


async def test_one_process_keeps_a_bounded_number_and_drops_the_longest_unused(
    sessions, monkeypatch
):
    monkeypatch.setattr(module, "MAX_SESSIONS", 2)
    first, second = (sessions.begin(MEMBER, "2025-11-25", {}) for _ in range(2))
    await sessions.find(first.id, MEMBER)
    sessions.begin(MEMBER, "2025-11-25", {})
    assert first.id in sessions.live
    assert second.id not in sessions.live
    assert await sessions.find(second.id, MEMBER) is not None
