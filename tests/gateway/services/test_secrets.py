"""References to secrets: resolved at use, hidden in every representation."""

from pathlib import Path

import pytest

from gateway.observability.redaction import MARK, redactor
from gateway.services import secrets


def test_a_variable_gives_its_value_and_the_representation_hides_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PORCH_EXAMPLE", "correct horse")
    secret = secrets.resolve("env:PORCH_EXAMPLE")
    assert secret.get_secret_value() == "correct horse"
    assert "correct horse" not in f"{secret} {secret!r}"
    assert redactor.text("the correct horse runs") == f"the {MARK} runs"


def test_a_file_is_read_anew_each_time_and_loses_its_line_break(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("first value\n")
    assert secrets.resolve("file:key", tmp_path).get_secret_value() == "first value"
    (tmp_path / "key").write_text("second value\r\n")
    assert secrets.resolve("file:key", tmp_path).get_secret_value() == "second value"
    assert redactor.text("first value, second value") == f"{MARK}, {MARK}"


@pytest.mark.parametrize(
    ("reference", "content", "message"),
    [
        ("env:PORCH_NO_SUCH_VARIABLE", None, "PORCH_NO_SUCH_VARIABLE is not set"),
        ("file:key", None, "key cannot be read: No such file or directory"),
        ("file:key", b"", "key is empty"),
        ("file:key", b"\n", "key is empty"),
        ("file:key", b"\xff\xfe", "key is not UTF-8 text"),
        ("file:key", b"x" * 70_000, "key is larger than 65536 bytes"),
        ("env:", None, "written env:NAME or file:PATH"),
        ("hunter2", None, "written env:NAME or file:PATH"),
    ],
)
def test_a_reference_that_leads_nowhere_says_what_to_do(
    tmp_path: Path, reference: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    with pytest.raises(secrets.SecretMissing, match=message) as raised:
        secrets.resolve(reference, tmp_path)
    assert "hunter2" not in str(raised.value)


def test_an_empty_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORCH_EXAMPLE", "")
    with pytest.raises(secrets.SecretMissing, match="PORCH_EXAMPLE is empty"):
        secrets.resolve("env:PORCH_EXAMPLE")


def test_the_password_of_an_address_counts_as_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://porch:p%40ss-of-the-day@db.example/porch"
    monkeypatch.setenv("PORCH_EXAMPLE", url)
    assert secrets.address("env:PORCH_EXAMPLE") == url
    for spelling in (url, "p%40ss-of-the-day", "p@ss-of-the-day"):
        assert redactor.text(f"<{spelling}>") == f"<{MARK}>"


def test_a_plain_address_is_taken_as_it_stands() -> None:
    assert secrets.address("./data/objects") == "./data/objects"
    assert secrets.address("redis://127.0.0.1:6379/0") == "redis://127.0.0.1:6379/0"


def test_a_resolved_secret_is_redacted_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORCH_SAMPLE", "battery-staple-71")
    secrets.resolve("env:PORCH_SAMPLE")
    assert redactor.text("tried battery-staple-71 twice") == "tried *** twice"
