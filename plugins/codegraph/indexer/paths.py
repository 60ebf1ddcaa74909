"""Which paths are indexed, by name alone."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from posixpath import basename, normpath

from plugins.codegraph.languages.registry import manifest_patterns

FOREIGN = frozenset(
    {".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", "jspm_packages"}
    | {".venv", "site-packages", "__pycache__", "__pypackages__", ".tox", ".nox", ".eggs"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle", ".next", ".nuxt", ".turbo"}
    | {".yarn", ".pnpm-store", ".terraform", ".cargo", ".idea", ".vs"}
)
"""Directories of third-party or generated files; skipped even if they are committed."""
BUILT = frozenset({"build", "dist", "out", "target", "venv", "env", "coverage", "vendor"})
"""Directories that usually hold build output; skipped where no version control decides."""
_BINARY = frozenset(
    """
    7z a avi bin bmp bz2 class dat db dll dmg doc docx dylib ear eot exe flac gif gz ico icns jar
    jpeg jpg lib mo mov mp3 mp4 npy npz o obj ogg onnx otf parquet pdf pickle pkl png ppt pptx psd
    pyc pyd rar so sqlite sqlite3 tar tgz tif tiff ttf war wasm wav webm webp whl woff woff2 xls
    xlsx xz zip zst
    """.split()  # noqa: SIM905
)
_KEYS = re.compile(
    r"\.env|\.env\.(?!(?:.*\.)?(?:example|sample|template|dist|defaults?)$).+|.+\.env"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|[._]netrc|\.pgpass|\.htpasswd|\.git-credentials|\.pypirc"
    r"|\.vault_pass(?:word)?(?:\.txt)?|.+\.(?:p12|pfx|jks|keystore|kdbx|ppk)"
)
"""Files that exist to hold secrets; the scrubbing rules may not recognise all of those."""
_DRIVE = re.compile(r"[A-Za-z]:")


def normalised(path: str) -> str | None:
    """A path of a repository in normal form, with ``/``, or None if it leads out of the repository.

    Args:
        path: any spelling: ``src\\app.py``, ``./src//app.py``.
    """
    plain = path.replace("\\", "/")
    if not plain or plain.startswith("/") or _DRIVE.match(plain) or "\0" in plain:
        return None
    plain = normpath(plain)
    return None if plain in (".", "..") or plain.startswith("../") else plain


def foreign_directory(path: str, *, built: bool = False) -> str | None:
    """The ancestor directory because of which a file is skipped, or None.

    Args:
        path: the file.
        built: whether to skip build output too.
    """
    parts = path.split("/")[:-1]
    for at, part in enumerate(parts):
        if part in FOREIGN or (built and part in BUILT):
            return "/".join(parts[: at + 1])
    return None


def looks_binary(path: str) -> bool:
    """Whether a file is binary, by its ending."""
    return basename(path).rpartition(".")[2].lower() in _BINARY


def holds_keys(path: str) -> bool:
    """Whether a file exists to hold secrets, by its name; such a file is never read."""
    return _KEYS.fullmatch(basename(path)) is not None


@cache
def _patterns() -> tuple[str, ...]:
    return tuple(sorted(manifest_patterns()))


def is_manifest(path: str) -> bool:
    """Whether a file is a manifest: the settings of a package or a compiler."""
    name = basename(path)
    return any(fnmatchcase(name, pattern) for pattern in _patterns())
