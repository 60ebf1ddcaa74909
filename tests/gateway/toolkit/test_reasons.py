"""What an error says to an admin."""

from __future__ import annotations

import pytest

from gateway.contract.backend_errors import DatabaseAway
from gateway.services.secrets import SecretMissing
from gateway.toolkit.reasons import log_fields, said_by


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


def test_an_outage_is_logged_by_its_reason_and_anything_else_with_its_traceback() -> None:
    away, wrong = DatabaseAway("PostgreSQL does not answer.\nNor did it before."), KeyError("a")
    assert log_fields(away) == {"reason": "PostgreSQL does not answer."}
    assert log_fields(wrong) == {"exc_info": wrong}
