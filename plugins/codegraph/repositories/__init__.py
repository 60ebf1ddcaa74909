"""The registry of repositories, their sources, and their removal."""
