"""The plugins that come with Porch; each is found like any other, by its entry point."""
