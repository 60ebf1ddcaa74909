"""What documents said before: the commits of their files, as far as a caller may see them."""
