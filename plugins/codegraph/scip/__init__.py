"""Integrates SCIP indexers, where they are installed: adds edges, and checks the linker's.

They are never the base of the graph: they are slow, and need complete projects. One that is missing
or fails is reported; there is no silent fallback in either direction.
"""
