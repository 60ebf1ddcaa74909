"""What looks at a whole graph, in a process of its own: it may compute for half a minute."""
