"""What SCIP indexers say, where they are installed: more edges, and a check of ours.

They are never the base of the graph: they are slow, and need what they index to be complete. One
that is missing or fails is reported; nothing falls back to it or from it silently.
"""
