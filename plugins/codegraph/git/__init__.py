"""Runs Git, in one place; reads checkouts, and manages the portal's own working copies."""
