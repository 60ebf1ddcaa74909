"""The ways in: each surface turns its wire into catalog and pipeline calls, and back."""
