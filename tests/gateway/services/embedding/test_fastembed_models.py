"""What is said of a model that was not fetched leads to it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.services.embedding.fastembed_models import open_fastembed
from gateway.services.embedding.model_files import ModelUnavailable


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("TextEmbedding", "BAAI/bge-small-en-v1.5"),
        ("TextCrossEncoder", "Xenova/ms-marco-MiniLM-L-6-v2"),
    ],
)
def test_the_command_that_fetches_a_model_can_be_run(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    with pytest.raises(ModelUnavailable) as failed:
        open_fastembed(name, fetch=False, kind=kind)
    named = re.search(rf"python -m (\S+) {re.escape(name)}$", str(failed.value))
    assert named is not None
    # With a name that is on no list it asks for nothing on the network.
    command = [sys.executable, "-m", named[1], "no/such-model"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "fastembed knows no model 'no/such-model'" in done.stderr
