"""The ``porch`` command.

Its modules import what a command needs when the command runs, so that help is quick.
"""

from gateway.cli.program import main

__all__ = ["main"]
