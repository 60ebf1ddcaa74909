"""Serves the portal to processes and sockets: connections, workers, and the end of both."""
