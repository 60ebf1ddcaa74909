"""Short-lived bytes, counters and messages: in this process, or in Redis."""
