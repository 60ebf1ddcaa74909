"""Notes: what members write, read with tolerance into the content model (section 3)."""
