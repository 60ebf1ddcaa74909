"""The configured servers: their connections, their state and their catalogues."""
