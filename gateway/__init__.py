"""The thin host: knows no plugin by name."""
