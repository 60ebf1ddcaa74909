"""What an error says to an admin."""

from __future__ import annotations

import pytest

from gateway.services.secrets import SecretMissing
from gateway.toolkit.reasons import said_by


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SecretMissing("The secret file a is empty."), "The secret file a is empty."),
        (SecretMissing(), "SecretMissing: "),
        (KeyError("a"), "KeyError: 'a'"),
        (OSError("no room left"), "OSError: no room left"),
    ],
)
def test_our_own_errors_speak_for_themselves_and_others_are_named(
    error: Exception, said: str
) -> None:
    assert said_by(error) == said
