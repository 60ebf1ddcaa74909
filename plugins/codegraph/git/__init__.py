"""Git: the one place that runs it, what it says of a checkout, and working copies of ours."""
