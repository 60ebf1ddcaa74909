"""The larger English model: its archive is put together again, and it tells near from far."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gateway.services.embedding import all_mpnet, service
from gateway.services.embedding.model_files import ModelUnavailable
from gateway.services.embedding.onnx_text import OnnxText
from gateway.services.embedding.sentence_models import OnnxSentences


def test_the_files_come_out_of_an_archive_in_parts(tmp_path: Path) -> None:
    archive = tmp_path / "whole.zip"
    contents = {name: name.encode() * 100 for name in all_mpnet._FILES}
    with zipfile.ZipFile(archive, "w") as written:
        for name, content in {**contents, "README.md": b"left out"}.items():
            written.writestr(f"{all_mpnet.MODEL}/{name}", content)
    whole, parts = archive.read_bytes(), []
    for number, start in enumerate(range(0, len(whole), 1 + len(whole) // 3)):
        parts.append(tmp_path / f"part.{number}")
        parts[-1].write_bytes(whole[start : start + 1 + len(whole) // 3])
    place = tmp_path / "place"
    place.mkdir()
    found = all_mpnet.unpacked(parts, place)
    assert {file.name: file.read_bytes() for file in found.iterdir()} == contents
    assert list(place.iterdir()) == [found]


def test_without_the_packages_the_setting_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORCH_CACHE", str(tmp_path))
    monkeypatch.setattr(all_mpnet, "PACKAGE", "no-such-package-here-{part}")
    with pytest.raises(ModelUnavailable, match=r"no-such-package-here-001.*make english"):
        service.open_embedder("english")


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_a_question_is_near_its_answer_in_other_words() -> None:
    if not all_mpnet.is_installed():
        pytest.skip("all-mpnet-base-v2 is not installed: run 'make english'.")
    model = OnnxSentences(all_mpnet.prepare(), all_mpnet.PROFILE)
    assert model.dimensions == all_mpnet.DIMENSIONS
    leave, travel = model.passages(
        ["How to ask for parental leave.", "Hotel and train costs are paid back."]
    )
    for question in ("May I stay home with my newborn?", "time off for a baby"):
        asked = model.query(question)
        assert asked @ leave > asked @ travel + 0.2
    assert np.isfinite(model.query("")).all()


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_a_long_text_is_read_to_its_384th_token() -> None:
    if not all_mpnet.is_installed():
        pytest.skip("all-mpnet-base-v2 is not installed: run 'make english'.")
    model = OnnxText(all_mpnet.prepare())
    _, mask = model.run(["porch " * 1000, "porch"])
    assert mask.shape == (2, all_mpnet.MAX_TOKENS)
    assert mask.sum(axis=1).tolist() == [384, 3]
