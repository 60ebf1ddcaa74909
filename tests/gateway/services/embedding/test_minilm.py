"""The embedded model is prepared once, whole, and from the weights that were tested."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gateway.services.embedding import minilm
from gateway.services.embedding.model_files import ModelUnavailable
from gateway.services.embedding.sentence_models import OnnxSentences

TEXTS = [
    "Who may use which tool is written in one file.",
    "A wallet signs a message; the portal asks the chain which hat it wears.",
    "The river rises in spring.",
    "governance",
    "Decisions are made by consent: a proposal passes when nobody objects. " * 40,
]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def installed() -> None:
    if not minilm.is_installed():
        pytest.skip(f"{minilm.PACKAGE} is not installed: run 'make install'.")


@pytest.mark.usefixtures("installed")
def test_eight_bits_give_nearly_the_same_vectors(empty_cache: Path) -> None:
    small, full = (OnnxSentences(minilm.prepare(bits)) for bits in ("int8", "fp32"))
    cosines = (small.passages(TEXTS) * full.passages(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.98
    assert small.max_tokens == 256
    assert small.dimensions == minilm.DIMENSIONS


@pytest.mark.usefixtures("installed")
def test_known_neighbours_are_near() -> None:
    model = OnnxSentences(minilm.prepare())
    cat, kitten, tax = model.passages(
        ["A cat sleeps on the mat.", "A kitten naps on the rug.", "Tax forms are due in April."]
    )
    assert cat @ kitten > 0.5 > 0.3 > cat @ tax


@pytest.mark.usefixtures("installed")
def test_a_second_preparation_changes_nothing(empty_cache: Path) -> None:
    first = minilm.prepare()
    written = {file: file.stat().st_mtime_ns for file in first.iterdir()}
    assert minilm.prepare() == first
    assert {file: file.stat().st_mtime_ns for file in first.iterdir()} == written


@pytest.mark.usefixtures("installed")
def test_two_processes_that_prepare_at_once_leave_one_whole_model(empty_cache: Path) -> None:
    command = [sys.executable, "-m", "gateway.services.embedding.minilm"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert all(str(minilm.location()) in output for output in outputs)
    assert [path.name for path in (empty_cache / "models").iterdir()] == [minilm.location().name]
    assert np.isfinite(OnnxSentences(minilm.location()).query("ready")).all()


@pytest.mark.usefixtures("installed")
def test_a_failure_in_the_middle_leaves_nothing_behind(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(minilm, "_write_model", full_disk)
    with pytest.raises(OSError, match="No space left"):
        minilm.prepare()
    assert list((empty_cache / "models").iterdir()) == []


@pytest.mark.usefixtures("installed")
def test_other_weights_are_refused(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(ModelUnavailable, match="not those of all-MiniLM-L6-v2"):
        minilm.prepare()
    assert minilm.main() == 1


def test_a_missing_package_is_named_with_what_to_do(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no-such-package-here")
    with pytest.raises(ModelUnavailable, match="no-such-package-here, which is not installed"):
        minilm.prepare()
