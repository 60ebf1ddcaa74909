"""Memory: what agents remember, in eight layers, and the Knowledge Provider protocol over it."""
