"""Who is calling, at which tier, and why. Imports nothing else of Porch."""

from auth.callers import ANONYMOUS, Caller, Identity
from auth.tiers import Tier

__all__ = ["ANONYMOUS", "Caller", "Identity", "Tier"]
