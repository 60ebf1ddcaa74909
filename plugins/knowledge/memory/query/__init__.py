"""The operations that read: queries, lists and single entries, with who wrote them."""
