"""The knowledge server: a community's knowledge base, searched and served."""
