"""The tools, one file for each group."""
