"""How many streams of each caller may be open."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from auth import ANONYMOUS, Caller, Tier
from gateway.config.portal_keys import Streams
from gateway.limits.networks import network_of
from gateway.limits.stream_shares import ShareTaken, StreamShares, TooManyStreams

ANA, BEN = (Caller(person=name, tier=Tier.PUBLIC, reasons=()) for name in ("ana", "ben"))


@pytest.mark.parametrize(
    ("peer", "network"),
    [
        ("192.0.2.7", "192.0.2.0/24"),
        ("2001:db8:0:aa01::/64", "2001:db8:0:aa00::/56"),
        ("local", "local"),
        ("unknown", "unknown"),
    ],
)
def test_a_network_is_what_one_customer_is_given(peer: str, network: str) -> None:
    assert network_of(peer) == network


def test_a_place_that_is_left_is_free_again() -> None:
    shares = StreamShares(Streams(person=1))
    for _ in range(3):
        with shares.hold(ANA, "192.0.2.7"):
            assert len(shares) == 1
    assert len(shares) == 0
    assert not shares._held


def test_a_persons_share_is_theirs_wherever_they_are() -> None:
    shares = StreamShares(Streams(person=2, address=1))
    with ExitStack() as stack:
        stack.enter_context(shares.hold(ANA, "192.0.2.7"))
        stack.enter_context(shares.hold(ANA, "192.0.2.8"))
        with pytest.raises(ShareTaken, match="You have 2 streams open") as refused:
            stack.enter_context(shares.hold(ANA, "198.51.100.1"))
        assert refused.value.status == 429
        stack.enter_context(shares.hold(BEN, "192.0.2.7"))
        stack.enter_context(shares.hold(ANONYMOUS, "192.0.2.7"))


def test_one_address_and_one_network_take_no_more_than_their_share() -> None:
    shares = StreamShares(Streams(address=2, network=3))
    with ExitStack() as stack:
        for peer in ("192.0.2.7", "192.0.2.7", "192.0.2.8"):
            stack.enter_context(shares.hold(ANONYMOUS, peer))
        for peer, whose in (("192.0.2.7", "address"), ("192.0.2.9", "network")):
            with pytest.raises(ShareTaken, match=f"Callers of your {whose}"):
                stack.enter_context(shares.hold(ANONYMOUS, peer))
        stack.enter_context(shares.hold(ANONYMOUS, "192.0.3.7"))


def test_all_together_have_so_many_and_a_refusal_takes_nothing() -> None:
    shares = StreamShares(Streams(total=1))
    with shares.hold(ANA, "192.0.2.7"):
        with (
            pytest.raises(TooManyStreams, match="Try again later") as refused,
            shares.hold(BEN, ""),
        ):
            pass
        assert (refused.value.status, refused.value.headers) == (503, ((b"retry-after", b"5"),))
    with shares.hold(BEN, ""):
        assert len(shares) == 1
