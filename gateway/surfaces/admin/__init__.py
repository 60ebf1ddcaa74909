"""``/admin``: why somebody may use something, and what other tier rules would change."""
