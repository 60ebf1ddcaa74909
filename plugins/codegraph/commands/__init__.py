"""``porch codegraph`` commands, declared without heavy imports; what they do comes late."""
