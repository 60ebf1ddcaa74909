"""Finding workflows and skill cards, by meaning and by words."""
