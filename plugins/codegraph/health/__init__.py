"""The health report: what the graph and the source say about the state of a repository."""
