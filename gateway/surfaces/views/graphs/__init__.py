"""Graphs of views as pictures: where their boxes stand, and the SVG that shows it."""
