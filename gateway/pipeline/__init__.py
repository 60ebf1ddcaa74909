"""What every call passes, in order, whatever surface it came in by."""
