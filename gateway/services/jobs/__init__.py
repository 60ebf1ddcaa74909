"""Durable work: queued, scheduled, and taken over from replicas that died."""
