"""Batches: many writes of one kind, done after the answer and whatever happens meanwhile."""
