"""Who is calling, at which tier, and why. Imports nothing else of Porch."""

from auth.authenticator import Authenticator, TokenVerifier
from auth.callers import ANONYMOUS, Caller, Identity
from auth.credentials import BadCredential
from auth.static_tokens import StaticTokens
from auth.tiers import Tier

__all__ = [
    "ANONYMOUS",
    "Authenticator",
    "BadCredential",
    "Caller",
    "Identity",
    "StaticTokens",
    "Tier",
    "TokenVerifier",
]
