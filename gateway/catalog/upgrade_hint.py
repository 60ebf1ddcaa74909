"""What to tell a caller who needs a higher tier than they have."""

from __future__ import annotations

from dataclasses import dataclass

from auth import Caller, Tier


@dataclass(frozen=True, slots=True)
class UpgradeHint:
    """The sentence at the end of a refusal: how this caller gets the tier they need.

    Attributes:
        name: what the portal is called.
        url: its address.
        members_url: the MCP endpoint that asks a client to sign in.
        can_sign_in: whether there is a way to sign in.
    """

    name: str
    url: str
    members_url: str
    can_sign_in: bool

    def __call__(self, caller: Caller, tier: Tier) -> str:
        """Say how a caller gets a tier; an agent reads it, and tells its person."""
        if caller.anonymous and self.can_sign_in:
            return (
                f"Sign in at {self.url}/signin, or connect the client to {self.members_url}, "
                "which asks for it."
            )
        if caller.person == "local":
            return f"`--as {tier}` acts at that tier."
        if not caller.signed_in:
            return f"Ask an admin of {self.name} for a token of {tier} access."
        if not caller.ceiling.allows(tier):
            return (
                f"This connection goes up to {caller.ceiling}: allow {tier} when connecting again."
            )
        if caller.sign_in_again:
            return (
                f"What was proved of this person is too old to count. Sign in again at {self.url}"
                f"/signin?again=1; {self.url}/account says what."
            )
        if caller.degraded:
            return (
                "Roles cannot be read completely right now, so this may be too low. Try again in a "
                f"few minutes; {self.url}/account says what did not answer."
            )
        return f"What {tier} access takes is on {self.url}/account."
