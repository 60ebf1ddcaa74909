"""Requests for a person's yes before a tool runs (decision 0055): bound, counted, spent once.

``tiers.yaml`` says which tools wait, and for whom (:mod:`gateway.catalog.approval_rule`); the
pipeline asks in the moment before it runs one (:mod:`gateway.pipeline.approval_gate`); the pages
and ``porch approvals`` are where people decide.
"""
