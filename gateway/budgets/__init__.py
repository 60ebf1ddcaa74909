"""Budgets of language models: who has which plan, what is spent of it, what happens at the limit.

``plans.yaml`` says which plans there are, and for whom (:mod:`gateway.config.plans_file`). Before
each call of a model ``gate`` looks whether its account may spend more, and after it counts what it
cost; ``reconciliation`` holds the counts against the table of calls every night (issue seed 003,
phase 8; decision 0064). ``reports`` makes what people see of it.
"""
