"""The tools that the plugin itself has, beside those of the servers."""
