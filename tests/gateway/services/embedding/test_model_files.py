"""Where models lie, what a setting means, and making a model ready from the command line."""

from pathlib import Path

import pytest

from gateway.services.embedding import reranker as reranking
from gateway.services.embedding import service as embedding
from gateway.services.embedding.model_files import is_directory, models_directory
from tests.gateway.services.embedding.tiny_models import sentence_encoder


def test_models_lie_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path / "chosen"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert models_directory() == tmp_path / "chosen" / "models"
    monkeypatch.delenv("PORCH_CACHE")
    assert models_directory() == tmp_path / "shared" / "porch" / "models"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert models_directory() == tmp_path / "home" / ".cache" / "porch" / "models"


def test_names_with_a_slash_are_names_unless_they_are_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not is_directory("BAAI/bge-small-en-v1.5")
    assert is_directory("./absent")
    assert is_directory(str(tmp_path / "absent"))
    assert is_directory("~/absent")
    (tmp_path / "models" / "mine").mkdir(parents=True)
    assert is_directory("models/mine")


def test_making_a_local_model_ready_checks_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert embedding.main([str(sentence_encoder(tmp_path / "tiny"))]) == 0
    assert embedding.main(["none"]) == 0
    assert embedding.main([str(tmp_path / "absent")]) == 1
    assert "absent is not a model directory" in capsys.readouterr().err


def test_fetching_an_unknown_reranker_says_which_names_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert reranking.main(["no/such-model"]) == 1
    assert "Names are, for example: Xenova/" in capsys.readouterr().err
