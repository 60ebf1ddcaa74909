"""The database: SQLite in the data directory, or PostgreSQL; with its migrations."""
