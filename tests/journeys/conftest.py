"""What a journey needs beside the portal: a chain, a browser, a client's site."""

from tests.access.conftest import publisher
from tests.browser.conftest import browser
from tests.chain.anvil import chain

__all__ = ["browser", "chain", "publisher"]
