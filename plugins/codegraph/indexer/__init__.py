"""From a directory to a graph in the store: scan, parse, link, write."""
