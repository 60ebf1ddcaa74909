"""The Knowledge Provider API: memory over HTTP, as the protocol writes it."""
