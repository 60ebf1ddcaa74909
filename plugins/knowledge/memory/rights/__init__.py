"""Who may do what: the keys that readers hold, roles, approval rules and delegation."""
