"""What a request meets before any surface, and what all surfaces send and read alike."""
