"""The backends that read repositories."""
