"""Who is calling: ways to sign in, what is stored of people, and what becomes of it."""
