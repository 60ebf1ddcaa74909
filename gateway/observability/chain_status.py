"""How the chains that decide roles are followed, for health, notices and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from auth.chain.follower import ChainStatus
from auth.chain.followers import Followers
from auth.facts import UNWATCHED_MAX_AGE_S
from gateway.observability.health import HealthBoard
from gateway.observability.metrics import Metrics


def show_following(followers: Followers, board: HealthBoard, metrics: Metrics) -> None:
    """Have it shown by ``/readyz`` and ``/metrics``."""
    board.chains(lambda: {str(each.chain): _details(each) for each in followers.states})
    board.notices(lambda: list(_notices(followers.states)))
    metrics.gauges(
        "chain_block",
        "The block up to which a chain's logs were read for roles.",
        ("chain",),
        lambda: {(str(each.chain),): each.block or 0 for each in followers.states},
    )
    metrics.gauges(
        "chain_heard_seconds",
        "Seconds since a chain's logs were last read to their end.",
        ("chain",),
        lambda: {(str(each.chain),): _since(each.heard) for each in followers.states if each.heard},
    )


def _details(state: ChainStatus) -> dict[str, Any]:
    return {
        "followed": state.followed,
        "block": state.block,
        "heard": None if state.heard is None else state.heard.isoformat(timespec="seconds"),
        "leads": state.leads,
        "problem": state.problem,
    }


def _notices(states: Sequence[ChainStatus]) -> Iterator[str]:
    for each in states:
        if each.problem is None or each.followed:
            continue
        since = "" if each.heard is None else f" since {each.heard:%Y-%m-%d %H:%M:%S} UTC"
        yield (
            f"roles: The logs of the chain {each.chain} are not read{since}. {each.problem} "
            f"Meanwhile its roles are asked for again every {UNWATCHED_MAX_AGE_S:g} s."
        )


def _since(heard: datetime) -> float:
    return (datetime.now(UTC) - heard).total_seconds()
