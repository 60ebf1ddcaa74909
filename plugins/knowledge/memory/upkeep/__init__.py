"""Memory's upkeep: entries move up, are put away, made one and removed; vectors are made good."""
