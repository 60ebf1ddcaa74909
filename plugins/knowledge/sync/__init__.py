"""Sync: sources followed into the canonical store, safe to kill at any moment (section 4)."""
