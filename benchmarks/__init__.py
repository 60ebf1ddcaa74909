"""What Porch promises in numbers, measured: ``make bench`` runs every file and prints one table.

A section is a module with ``measure()``, which gives :class:`benchmarks.table.Row` objects. What
is measured runs in processes of its own, started by ``benchmarks.processes``.
"""
