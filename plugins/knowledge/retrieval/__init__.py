"""Retrieval: documents indexed by words and by meaning, then ranked (section 6)."""
