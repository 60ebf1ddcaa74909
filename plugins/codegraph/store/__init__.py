"""The graph in the database: layers, queries, deletion."""
