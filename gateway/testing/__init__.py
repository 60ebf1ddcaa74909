"""The kit for testing a plugin: a whole portal in memory, and the contract suite.

``open_test_portal`` opens a portal with your plugin on embedded services and speaks to it as
clients do. ``PluginContract`` is a test class to subclass; it checks what every plugin owes.
The guide is ``docs/plugin-authors/testing.md``.
"""

import pytest

pytest.register_assert_rewrite(
    "gateway.testing.personal",
    "gateway.testing.suite",
    "gateway.testing.tasks",
    "gateway.testing.work",
)

from auth import Account  # noqa: E402
from gateway.cli.mcp_client import RequestRefused  # noqa: E402
from gateway.testing.answering_model import AnsweringModel  # noqa: E402
from gateway.testing.portal import CallResult, TestPortal, open_test_portal  # noqa: E402
from gateway.testing.suite import PluginContract  # noqa: E402

__all__ = [
    "Account",
    "AnsweringModel",
    "CallResult",
    "PluginContract",
    "RequestRefused",
    "TestPortal",
    "open_test_portal",
]
