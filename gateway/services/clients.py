"""The clients of servers: a portal that starts embedded does not install them."""

from importlib.util import find_spec

__all__ = ["need"]


def need(package: str, server: str) -> None:
    """See that the client for a server is installed, without importing it.

    Args:
        package: what would be imported.
        server: what it is for, as the admin knows it.

    Raises:
        ValueError: it is not installed; the message says how to install it.
    """
    if find_spec(package) is None:
        raise ValueError(f"The client for {server} is not installed; run `make services`.")
