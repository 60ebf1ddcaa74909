"""What changed in a repository: one state of its entities against another."""
