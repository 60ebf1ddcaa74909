"""What other issuers publish and say: metadata, keys, claims."""
