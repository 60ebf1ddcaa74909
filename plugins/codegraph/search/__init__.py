"""Finding code by words and by meaning."""
