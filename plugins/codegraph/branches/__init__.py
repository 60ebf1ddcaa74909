"""Other branches than the indexed one: each a layer over the index, made when it is asked for."""
