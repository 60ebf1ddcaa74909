"""Resolves the facts of each file to edges between entities; where nothing is known, no edge."""
