"""What the tools that write take, as models whose schemas tell an agent all it needs."""
