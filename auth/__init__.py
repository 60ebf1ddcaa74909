"""Who is calling, at which tier, and why. Imports nothing else of Porch."""

from auth.authenticator import Authenticator, Verifier
from auth.callers import ANONYMOUS, Account, Caller, Identity
from auth.credentials import BadCredential
from auth.tiers import Tier
from auth.tokens.static_tokens import StaticTokens

__all__ = [
    "ANONYMOUS",
    "Account",
    "Authenticator",
    "BadCredential",
    "Caller",
    "Identity",
    "StaticTokens",
    "Tier",
    "Verifier",
]
