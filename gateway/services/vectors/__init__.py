"""Vectors: embedded in this process, or on a server."""
