"""Drafts of pages: checked, shown to their person, and proposed where the knowledge base lies."""
