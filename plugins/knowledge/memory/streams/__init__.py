"""What happens in memory, told while it happens (protocol, "Streaming Endpoint")."""
