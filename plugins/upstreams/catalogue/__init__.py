"""What a server offers: fetched, checked entry by entry, kept, named and pinned."""
