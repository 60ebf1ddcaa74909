"""The tools over memory that agents use."""
