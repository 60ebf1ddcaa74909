"""The ``porch codegraph`` commands, declared without heavy imports; actions are imported late."""
