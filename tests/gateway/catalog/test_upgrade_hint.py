"""What a refused caller is told to do."""

from __future__ import annotations

import pytest

from auth import ANONYMOUS, Caller, Tier
from gateway.catalog.upgrade_hint import UpgradeHint

PUBLIC = Tier.PUBLIC
CALLERS = {
    "stranger": ANONYMOUS,
    "person": Caller("person:ann", PUBLIC),
    "narrow": Caller("person:ann", PUBLIC, ceiling=Tier.PUBLIC),
    "unsure": Caller("person:ann", PUBLIC, degraded=True),
    "too long ago": Caller("person:ann", PUBLIC, degraded=True, sign_in_again=True),
    "operator": Caller("token:ci", PUBLIC, ceiling=Tier.PUBLIC),
    "static": Caller("static:1a2b", PUBLIC),
    "at the command line": Caller("local", PUBLIC),
}
TOLD = {
    "stranger": "Sign in at https://porch.example/signin, or connect the client to "
    "https://porch.example/members/mcp, which asks for it.",
    "person": "What members access takes is on https://porch.example/account.",
    "narrow": "This connection goes up to public: allow members when connecting again.",
    "unsure": "Roles cannot be read completely right now, so this may be too low. Try again in a "
    "few minutes; https://porch.example/account says what did not answer.",
    "too long ago": "What was proved of this person is too old to count. Sign in again at "
    "https://porch.example/signin?again=1; https://porch.example/account says what.",
    "operator": "Ask an admin of Our portal for a token of members access.",
    "static": "Ask an admin of Our portal for a token of members access.",
    "at the command line": "`--as members` acts at that tier.",
}


@pytest.mark.parametrize("who", list(CALLERS))
def test_each_caller_is_told_what_would_help_them(who: str) -> None:
    rising = UpgradeHint(
        "Our portal", "https://porch.example", "https://porch.example/members/mcp", can_sign_in=True
    )
    assert rising(CALLERS[who], Tier.MEMBERS) == TOLD[who]


def test_where_nobody_can_sign_in_a_stranger_is_sent_to_an_admin() -> None:
    rising = UpgradeHint(
        "Our portal",
        "https://porch.example",
        "https://porch.example/members/mcp",
        can_sign_in=False,
    )
    assert (
        rising(ANONYMOUS, Tier.PUBLIC) == "Ask an admin of Our portal for a token of public access."
    )
