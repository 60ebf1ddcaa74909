"""How often a caller may do something, counted over all replicas where they share a Redis."""
