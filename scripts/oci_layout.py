"""Write and unpack container images as archives of an OCI image layout.

OCI image specification 1.1: image-layout, manifest, config and layer. The same files make the same
image: names are sorted, and no time is later than ``SOURCE_DATE_EPOCH`` where that is set.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import platform
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_MEDIA = "application/vnd.oci.image"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_COPY_BYTES = 1024 * 1024
_COMPRESSION_LEVEL = 6


def write_image(
    root: Path, before: Mapping[Path, int], config: Mapping[str, Any], archive: Path, name: str
) -> None:
    """Write a directory as an image of two layers: the base system, and what came on top.

    Args:
        root: the file system.
        before: the paths of the base system, and when each was written.
        config: the image's configuration.
        archive: the archive to write.
        name: the image's name and tag, such as ``porch:0.1.0``.
    """
    paths = sorted(root.rglob("*"))
    own = [path for path in paths if before.get(path) != path.lstat().st_mtime_ns]
    old = [path for path in paths if path in before and path not in set(own)]
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_suffix(".part")
    with tarfile.open(draft, "w") as layout:
        layers = [_layer(root, each, layout) for each in (old, own)]
        image = {
            "created": datetime.fromtimestamp(_epoch(), UTC).isoformat().replace("+00:00", "Z"),
            "architecture": _MACHINES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [plain for _, plain in layers]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{_MEDIA}.manifest.v1+json",
            "config": _json(layout, f"{_MEDIA}.config.v1+json", image),
            "layers": [descriptor for descriptor, _ in layers],
        }
        entry = _json(layout, str(manifest["mediaType"]), manifest)
        entry["annotations"] = {"org.opencontainers.image.ref.name": name}
        _add(layout, "index.json", _text({"schemaVersion": 2, "manifests": [entry]}))
        _add(layout, "oci-layout", _text({"imageLayoutVersion": "1.0.0"}))
    draft.replace(archive)


def unpack_image(archive: Path, root: Path) -> dict[str, Any]:
    """Unpack an image's layers into a directory, checking every digest.

    Returns:
        The image's configuration.

    Raises:
        ValueError: a part is not what its digest says.
    """
    with tarfile.open(archive) as layout:
        manifest = _manifest(layout)
        image: dict[str, Any] = json.loads(_blob(layout, manifest["config"]["digest"]))
        for layer, plain in zip(manifest["layers"], image["rootfs"]["diff_ids"], strict=True):
            content = gzip.decompress(_blob(layout, layer["digest"]))
            _check(content, plain)
            with tarfile.open(fileobj=io.BytesIO(content)) as files:
                # Python has filters since 3.11.4, and filters nothing before.
                files.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
                files.extractall(root)  # noqa: S202  (checked above)
    config: dict[str, Any] = image["config"]
    return config


def layer_sizes(archive: Path) -> list[int]:
    """The bytes of an image's layers as registries send and keep them, the lowest first."""
    with tarfile.open(archive) as layout:
        return [layer["size"] for layer in _manifest(layout)["layers"]]


def _manifest(layout: tarfile.TarFile) -> dict[str, Any]:
    index = json.loads(_member(layout, "index.json"))
    manifest: dict[str, Any] = json.loads(_blob(layout, index["manifests"][0]["digest"]))
    return manifest


def _epoch() -> int:
    return int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.now(UTC).timestamp())


def _layer(
    root: Path, paths: Iterable[Path], layout: tarfile.TarFile
) -> tuple[dict[str, Any], str]:
    """Add a layer; its descriptor, and the digest of what it is before it is compressed."""
    plain = hashlib.sha256()
    with tempfile.TemporaryFile() as tar, tempfile.TemporaryFile() as packed:
        with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as files:
            for path in paths:
                if not stat.S_ISSOCK(path.lstat().st_mode):
                    files.add(path, str(path.relative_to(root)), recursive=False, filter=_stable)
        tar.seek(0)
        with gzip.GzipFile("", "wb", _COMPRESSION_LEVEL, packed, mtime=0) as zipped:
            while piece := tar.read(_COPY_BYTES):
                plain.update(piece)
                zipped.write(piece)
        size = packed.tell()
        packed.seek(0)
        digest = hashlib.file_digest(packed, "sha256").hexdigest()
        packed.seek(0)
        info = tarfile.TarInfo(f"blobs/sha256/{digest}")
        info.size = size
        layout.addfile(info, packed)
    media = f"{_MEDIA}.layer.v1.tar+gzip"
    descriptor = {"mediaType": media, "digest": f"sha256:{digest}", "size": size}
    return descriptor, f"sha256:{plain.hexdigest()}"


def _stable(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uname = info.gname = ""
    info.mtime = min(int(info.mtime), _epoch())
    return info


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _json(layout: tarfile.TarFile, media: str, value: Any) -> dict[str, Any]:
    content = _text(value)
    digest = hashlib.sha256(content).hexdigest()
    _add(layout, f"blobs/sha256/{digest}", content)
    return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}


def _add(layout: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    layout.addfile(info, io.BytesIO(content))


def _member(layout: tarfile.TarFile, name: str) -> bytes:
    file = layout.extractfile(name)
    assert file is not None  # noqa: S101  (it is no directory)
    return file.read()


def _blob(layout: tarfile.TarFile, digest: str) -> bytes:
    content = _member(layout, "blobs/" + digest.replace(":", "/"))
    _check(content, digest)
    return content


def _check(content: bytes, digest: str) -> None:
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
        raise ValueError(f"{digest} is not what the image holds")
