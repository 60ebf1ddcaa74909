"""Where model files are, and the error for models that cannot be used."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


class ModelUnavailable(Exception):
    """A model cannot be used; the message tells the admin why and what to do.

    Search goes on without it (by keywords alone, or without reranking) and says so.
    """


def models_directory() -> Path:
    """The user's cache of prepared and fetched models.

    It is ``models`` in ``PORCH_CACHE`` where that is set, else in ``porch`` in the user's cache
    directory (``XDG_CACHE_HOME``, by default ``~/.cache``; XDG Base Directory specification).
    """
    chosen = os.environ.get("PORCH_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "models"
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "porch" / "models"


def model_file(directory: Path) -> Path:
    """The ONNX file of a model directory.

    Raises:
        ModelUnavailable: the directory lacks the model or its tokenizer.
    """
    places = (directory / "model.onnx", directory / "onnx" / "model.onnx")
    found = next((place for place in places if place.is_file()), None)
    if found is None or not (directory / "tokenizer.json").is_file():
        raise ModelUnavailable(
            f"{directory} is not a model directory: it needs model.onnx and tokenizer.json."
        )
    return found


def file_hash(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_directory(setting: str) -> bool:
    """Whether a setting means a directory: it is one, or it is written like a path."""
    path = Path(setting).expanduser()
    return path.is_dir() or path.is_absolute() or setting.startswith(("./", "../"))
