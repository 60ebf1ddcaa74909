"""Models whose weights come in a pinned package: checked, converted once, and kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Protocol, cast

from gateway.services.embedding.model_files import ModelUnavailable, file_hash
from gateway.services.embedding.model_profiles import Profile

PACKAGED = {
    "embedded": "minilm",
    "english": "all_mpnet",
    "multilingual": "multilingual_e5",
}
"""What ``services.embedding`` calls the models of packages, and the module that knows each."""


class PackagedModel(Protocol):
    """What a module says of the model that it makes ready.

    Attributes:
        DIMENSIONS: the length of a vector.
        BATCH_TOKENS: how many tokens, padding included, go to the model at once.
        PROFILE: how it is used.
    """

    DIMENSIONS: int
    BATCH_TOKENS: int
    PROFILE: Profile

    def location(self) -> Path:
        """The directory of the prepared model; its name also identifies the model's vectors."""
        ...

    def is_installed(self) -> bool:
        """Whether the packages that carry the weights are installed; none is ever imported."""
        ...

    def prepare(self) -> Path:
        """Make the model ready, once a machine; instant where it is ready already."""
        ...


def packaged(setting: str) -> PackagedModel:
    """The module of a model that comes in packages, one of :data:`PACKAGED`."""
    module = import_module(f"{__package__}.{PACKAGED[setting]}")
    return cast("PackagedModel", module)


def is_installed(package: str) -> bool:
    """Whether a package is installed; it is never imported."""
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def weights(package: str, inside: str, sha256: str, *, model: str, remedy: str) -> Path:
    """The file of weights in a package, after its hash was checked.

    Args:
        package: the package's name.
        inside: the file's path among the package's files.
        sha256: what the file hashes to, in hexadecimal.
        model: what the weights are called, for the error.
        remedy: what the admin can do about it.

    Raises:
        ModelUnavailable: the package is missing, or its weights are not the expected ones.
    """
    if not is_installed(package):
        raise ModelUnavailable(
            f"The model {model} needs the package {package}, which is not installed. {remedy}"
        )
    path = Path(str(metadata.distribution(package).locate_file(inside)))
    if not path.is_file() or file_hash(path) != sha256:
        raise ModelUnavailable(
            f"The weights in {path} are not those of {model} that Porch was tested with "
            f"(sha256 {sha256}). {remedy}"
        )
    return path


def prepared(target: Path, write: Callable[[Path], None]) -> Path:
    """Make a model's directory, once a machine; instant where it is there already.

    The files are written beside their place and moved there in one step, so a second process
    that prepares at the same time, or a crash, never leaves half a model.

    Args:
        target: the directory.
        write: writes the model's files into an empty directory.

    Returns:
        The target.

    Raises:
        OSError: the cache directory cannot be written.
    """
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        write(draft)
        publish(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def publish(draft: Path, target: Path) -> None:
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
