"""From what each file says to the edges between entities, without a guess."""
