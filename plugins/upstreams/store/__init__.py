"""What is kept of servers in the database: catalogues and pins."""
