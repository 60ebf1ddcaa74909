"""A model from a package is written whole or not at all."""

from pathlib import Path

import pytest

from gateway.services.embedding import packaged_models
from gateway.services.embedding.model_files import ModelUnavailable


def test_a_faster_process_wins_and_the_draft_goes(tmp_path: Path) -> None:
    target, draft = tmp_path / "model", tmp_path / "draft"
    for directory, text in ((target, "theirs"), (draft, "ours")):
        directory.mkdir()
        (directory / "model.onnx").write_text(text)
    packaged_models.publish(draft, target)
    assert (target / "model.onnx").read_text() == "theirs"


def test_what_is_ready_is_not_written_again(tmp_path: Path) -> None:
    target = tmp_path / "models" / "tiny"
    packaged_models.prepared(target, lambda draft: None)
    assert packaged_models.prepared(target, lambda draft: pytest.fail("written again")) == target


def test_a_file_that_the_package_lacks_is_refused_like_altered_weights() -> None:
    with pytest.raises(ModelUnavailable, match="are not those of tiny"):
        packaged_models.weights("numpy", "numpy/none.bin", "0" * 64, model="tiny", remedy="")
