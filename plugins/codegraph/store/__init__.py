"""The graph in the database."""
