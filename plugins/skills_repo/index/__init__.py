"""The index: what a source holds, read once from its frontmatter and kept as JSON."""
