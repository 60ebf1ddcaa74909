"""Build the portal's container image: ``python scripts/image.py [--check]``.

Docker, Podman or Buildah builds it from ``packaging/Containerfile`` where one of them works. Else
it is put together here, as root on Debian: the base system by debootstrap, the pinned wheels by
pip, the embedding model, and what the Containerfile's last stage says, in an OCI image layout
(``build/porch-image.tar``) that those tools load. ``--check`` runs it with a read-only root and
asks it something; it needs root and bubblewrap.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from scripts.containerfile import Stage, last_stage
from scripts.image_check import check, weigh
from scripts.oci_layout import write_image

ROOT = Path(__file__).parents[1]
CONTAINERFILE = ROOT / "packaging" / "Containerfile"
SLIM = ROOT / "packaging" / "slim"
ARCHIVE = ROOT / "build" / "porch-image.tar"
SUITE, PYTHON = "bookworm", "3.11"
GLIBC = ("2_17", "2_28", "2_34", "2_36")
"""Versions of glibc whose wheels run on the suite."""
UNUSED = (
    *("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/lintian"),
    *("var/cache/apt", "var/cache/debconf", "var/lib/apt/lists", "var/log"),
)


def builder() -> list[str] | None:
    """The command that builds from a Containerfile here, or None."""
    for tool, probe in {"docker": "info", "podman": "info", "buildah": "images"}.items():
        if not shutil.which(tool):
            continue
        if not subprocess.run([tool, probe], capture_output=True, check=False).returncode:
            return [tool, "build"]
    return None


def version() -> str:
    """The portal's version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def run(*command: str | Path, **environment: str) -> None:
    """Run a command that must succeed."""
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **environment})


def base(root: Path, packages: str) -> None:
    """Lay out Debian's own files, without what no container reads."""
    include = f"--include={packages.replace(' ', ',')}"
    run("debootstrap", "--variant=minbase", include, SUITE, root)
    for name in UNUSED:
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("var/cache/apt/archives/partial", "var/lib/apt/lists/partial", "var/log"):
        (root / name).mkdir(parents=True)


def portal(root: Path, stage: Stage) -> None:
    """Add the wheels, the model, the portal itself and its user."""
    site = root / "usr/local/lib" / f"python{PYTHON}" / "dist-packages"
    weights = root / "tmp/weights"
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    wheels = [f"--platform=manylinux_{each}_{platform.machine()}" for each in GLIBC]
    pinned = ("--require-hashes", "--only-binary=:all:", "--no-compile", "--no-deps")
    fitting = (f"--python-version={PYTHON}", "--implementation=cp", *wheels)
    for name, target in {"services": site, "model": weights}.items():
        names = ("--target", target, "--requirement", f"requirements/{name}.txt")
        run(*pip, "install", *pinned, *fitting, *names)
    with tempfile.TemporaryDirectory() as built:
        run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", built, ".")
        own = next(Path(built).glob("porch-*.whl"))
        run(*pip, "install", "--no-deps", "--no-compile", "--target", site, own)
    inside = ("chroot", root, "/usr/bin/python3", "-m")
    seen = {"PORCH_CACHE": "/opt/porch", "PYTHONPATH": f"/{weights.relative_to(root)}"}
    run(*inside, "gateway.services.embedding.minilm", **seen)
    shutil.rmtree(weights)
    run(SLIM, site)
    compiled = ("compileall", "-q", "--invalidation-mode", "unchecked-hash")
    run(*inside, *compiled, f"/{site.relative_to(root)}")
    for source, place in stage.copied.items():
        copy(ROOT / source, root / place.lstrip("/"))
    user(root, *map(int, stage.config["User"].split(":")))


def copy(source: Path, target: Path) -> None:
    """Copy a file or a directory of the project, readable by everybody."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
    for each in (target, *target.rglob("*")):
        each.chmod(0o755 if each.is_dir() or os.access(each, os.X_OK) else 0o644)


def user(root: Path, uid: int, gid: int) -> None:
    """Make the portal's user, and the directory that is theirs."""
    with (root / "etc/passwd").open("a") as file:
        file.write(f"porch:x:{uid}:{gid}::/srv/porch:/usr/sbin/nologin\n")
    with (root / "etc/group").open("a") as file:
        file.write(f"porch:x:{gid}:\n")
    data = root / "srv/porch/data"
    data.mkdir(mode=0o700)
    os.chown(data, uid, gid)


def assemble(archive: Path) -> None:
    """Put the image together without a container engine."""
    if not shutil.which("debootstrap") or os.getuid():
        sys.exit(
            "No container engine works here. Without one, the image is built as root on a machine "
            "with debootstrap: apt-get install debootstrap, and run this again as root."
        )
    stage = last_stage(CONTAINERFILE)
    stage.config["Labels"]["org.opencontainers.image.version"] = version()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "root"
        base(root, stage.arguments["PACKAGES"])
        before = {path: path.lstat().st_mtime_ns for path in root.rglob("*")}
        portal(root, stage)
        write_image(root, before, stage.config, archive, name=f"porch:{version()}")


def main() -> None:
    """Build the image, and try it where asked."""
    parser = argparse.ArgumentParser(description="Build the portal's container image.")
    parser.add_argument("--check", action="store_true", help="run the image and ask it something")
    parser.add_argument("--built", action="store_true", help="check the one that was built before")
    asked = parser.parse_args()
    engine = None if asked.built else builder()
    if engine:
        tag = f"porch:{version()}"
        label = f"org.opencontainers.image.version={version()}"
        run(*engine, "--file", CONTAINERFILE, "--label", label, "--tag", tag, ".")
        return
    if not asked.built:
        assemble(ARCHIVE)
    weigh(ARCHIVE)
    if asked.check or asked.built:
        check(ARCHIVE)


if __name__ == "__main__":
    main()
