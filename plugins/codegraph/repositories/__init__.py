"""Which repositories there are, where their files come from, and how they go again."""
