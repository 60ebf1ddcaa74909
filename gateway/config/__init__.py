"""``portal.yaml`` and ``tiers.yaml``: read, checked, and every mistake named by its line."""
