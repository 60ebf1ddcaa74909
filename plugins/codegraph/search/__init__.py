"""Search for code by words and by meaning."""
