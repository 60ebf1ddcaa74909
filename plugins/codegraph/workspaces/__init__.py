"""The shadow workspace: a person's uncommitted work over the indexed code."""
