"""Sets up a project for agents to use the code graph: a rule, and the clients' settings."""
