"""Tokens that prove an identity: the portal's own, API tokens, and other issuers' JWTs."""
