"""Why the code exists: the purpose, class and feature of every entity, from facts."""
