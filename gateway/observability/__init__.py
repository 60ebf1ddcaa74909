"""Logs, metrics, traces, health and the audit record; none of them ever holds a secret."""
