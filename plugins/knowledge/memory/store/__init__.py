"""What is remembered, in the portal's database: entries, their words, versions and events."""
