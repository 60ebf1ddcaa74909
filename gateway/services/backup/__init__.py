"""Backups: taken while the portal runs, put back into an empty place."""
