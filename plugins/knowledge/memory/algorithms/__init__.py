"""Memory's algorithms, without I/O: relevance, confidence, conflicts, merge and promotion."""
