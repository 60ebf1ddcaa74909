"""The backends that plugins share: embedded by default, an address each to grow."""
