"""The Model Context Protocol over streamable HTTP, both eras on one endpoint.

``endpoint`` receives a POST and picks the era; ``modern`` (2026-07-28, stateless) and ``legacy``
(2025-11-25 and older, sessions) check the envelope; ``methods`` answers; ``reply_stream`` writes
the answer as JSON or as server-sent events. Decision record 0005 says why the portal speaks the
wire itself, on the models of ``mcp_types``.
"""
