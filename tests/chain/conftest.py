"""The chain of the tests."""

from tests.chain.anvil import chain

__all__ = ["chain"]
