"""Code graphs: repositories indexed into who calls, contains, imports and extends what."""
