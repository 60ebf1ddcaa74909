"""Plugins in processes of their own: one that computes, hangs or dies takes nobody along.

The portal sees an ordinary plugin, whose functions are calls over a pipe. Tiers, limits,
scrubbing, audit and pages stay in the portal; the process has the plugin, and services of its own.
"""
