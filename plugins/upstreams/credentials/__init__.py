"""Whose credential a connection to a server carries."""
