"""What a project needs so that its agents use the code graph: a rule, and the client's settings."""
