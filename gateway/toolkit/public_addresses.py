"""Which IP addresses a plugin may connect to where a stranger chose the host (SSRF)."""

from auth.public_addresses import is_public

__all__ = ["is_public"]
