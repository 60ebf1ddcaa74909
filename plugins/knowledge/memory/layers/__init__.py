"""The layers of memory: each answers questions, from this process, the database or the notes."""
