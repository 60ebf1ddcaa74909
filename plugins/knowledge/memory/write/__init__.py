"""The operations that write: entries, and those writes that wait for a person's approval."""
