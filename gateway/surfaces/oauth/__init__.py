"""OAuth for MCP clients: the portal as their authorization server, and where they find it.

The portal answers as an OAuth 2.1 authorization server with the mcp SDK's handlers, and adds what
they lack: client ID metadata documents, ``iss`` in every answer (RFC 9207), errors that a person
can read, limits. The SDK is heavy, so :mod:`~gateway.surfaces.oauth.routes` imports the modules
that use it, :mod:`~gateway.surfaces.oauth.server` and :mod:`~gateway.surfaces.oauth.metadata`,
at the first request.
"""
