"""Memory's upkeep: entries move up, are put away, settled and removed; vectors are made good."""
