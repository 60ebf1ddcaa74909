"""Memory's algorithms, without I/O: relevance, confidence, duplicates, merge and promotion."""
