"""Skills, agents and docs from Git repositories."""
