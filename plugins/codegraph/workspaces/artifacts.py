"""Lists of lockfiles and build output, which say nothing about what a person is working on.

The lists are those of the seed's bootstrap rule (kap10, "The Shadow Workspace"), completed for the
ecosystems whose code the graph reads.
"""

from __future__ import annotations

_LOCKFILES = """
    package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb deno.lock
    gemfile.lock poetry.lock pdm.lock uv.lock pipfile.lock pixi.lock cargo.lock go.sum
    go.work.sum composer.lock mix.lock pubspec.lock podfile.lock package.resolved flake.lock
    gradle.lockfile buildscript-gradle.lockfile packages.lock.json conan.lock
"""
LOCKFILES = frozenset(_LOCKFILES.split())
"""File names that package managers write, in lower case."""

_FOLDERS = """
    node_modules bower_components dist build .next .nuxt .svelte-kit .output .turbo
    .parcel-cache .cache .vercel .netlify __pycache__ .venv venv .tox .nox .mypy_cache
    .pytest_cache .ruff_cache .gradle .eggs htmlcov .nyc_output
"""
FOLDERS = frozenset(_FOLDERS.split())
"""Names of folders for build output, caches and installed packages, at any depth."""

SUFFIXES = (
    ".min.js",
    ".min.css",
    ".map",
    ".pyc",
    ".pyo",
    ".class",
    ".o",
    ".so",
    ".dll",
    ".egg-info",
    ".tsbuildinfo",
    ".snap",
)
"""Endings of generated files, in lower case."""


def is_artifact(path: str) -> bool:
    """Whether a file is a lockfile or build output.

    Args:
        path: relative to the repository's root, with ``/``.
    """
    *folders, name = path.lower().split("/")
    if name in LOCKFILES or name.endswith(SUFFIXES):
        return True
    return any(folder in FOLDERS for folder in folders)
