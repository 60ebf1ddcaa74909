"""Texts to vectors, and the models that do it."""
