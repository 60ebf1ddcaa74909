"""Partners' servers searched as one, together with the portal's own knowledge."""
