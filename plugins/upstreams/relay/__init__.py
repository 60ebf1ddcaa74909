"""Calls on their way to a server, and the server's questions on their way back."""
