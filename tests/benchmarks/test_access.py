"""The benchmark of access counts right answers only, from a real portal and real credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks import access, credential_client, many_callers
from benchmarks.credential_client import Turns, taken
from benchmarks.many_callers import Growth
from benchmarks.members import Issuer, configure, credentials
from benchmarks.processes import free_port, running
from gateway.surfaces.http.client_address import client_address

ANONYMOUS = Turns(first=[9.0], rounds=[0.4, 0.9, 0.5])


def test_a_round_is_compared_with_the_anonymous_round_beside_it() -> None:
    assert Turns([], [0.5, 1.0, 0.5]).added(ANONYMOUS) == pytest.approx([0.1, 0.1, 0.0])


def test_rounds_without_a_partner_are_no_result() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        Turns([], [0.5]).added(ANONYMOUS)


def test_a_first_call_is_compared_with_later_anonymous_calls() -> None:
    assert Turns([2.5, 2.0, 9.0], []).first_added(ANONYMOUS) == pytest.approx(2.0)


@pytest.mark.parametrize(("kind", "verdict"), [("access-token", "missed"), ("oidc", "")])
def test_the_bar_is_about_the_portals_own_tokens(kind: str, verdict: str) -> None:
    slow = Turns([2.0], [each + 0.31 for each in ANONYMOUS.rounds])
    row = access.added_row(kind, slow, ANONYMOUS)
    assert row.value == pytest.approx(0.31)
    assert row.verdict == verdict


def test_growth_counts_from_the_first_look() -> None:
    row = access.memory_row(Growth([10, 50, 100], [200.0, 215.0, 220.5], 60.0))
    assert row.value == 20.5
    assert row.missed
    assert "+5.5 MiB after 50" in row.note


def test_every_anonymous_caller_has_a_peer_of_its_own() -> None:
    numbers = range(1, many_callers.CALLERS, 97)
    peers = {client_address({"client": (many_callers.peer(number), 1)}) for number in numbers}
    assert len(peers) == len(numbers)
    assert "unknown" not in peers


def test_every_kind_of_credential_is_taken_and_a_made_up_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer, port = Issuer(), free_port()
    with issuer.serving():
        portal = configure(tmp_path, port, issuer=issuer)
        tokens: Mapping[str, Sequence[str]] = asyncio.run(credentials(tmp_path, portal, issuer, 2))
        assert tokens.keys() == access.KINDS.keys()
        with running(["-m", "benchmarks.members", str(tmp_path), str(port)], port):
            found = taken(port, {credential_client.ANONYMOUS: [""], **tokens}, rounds=2)
            with pytest.raises(RuntimeError, match="401"):
                taken(
                    port,
                    {credential_client.ANONYMOUS: [""], "made-up": ["porch_made-up"]},
                    rounds=1,
                )
    assert {len(each.rounds) for each in found.values()} == {2}
    assert all(len(found[kind].first) == 2 for kind in access.KINDS)


def test_a_small_crowd_is_answered_rightly_and_leaves_little() -> None:
    found = many_callers.grown((20, 40, 60))
    assert len(found.held) == 3
    assert access.memory_row(found).verdict == "met"
