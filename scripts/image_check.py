"""Run a built image as an engine would: as its user, with a read-only root and its command."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scripts.oci_layout import layer_sizes, unpack_image

PORT = "8399"
READY_SECONDS = 120
MAX_IMAGE_BYTES = 400 * 10**6
"""What a machine pulls at most: all layers as registries keep them, with the embedding model."""
QUESTION = ("call", "search_knowledge", "query=who may use what")


def weigh(archive: Path) -> None:
    """Say how large an image is as it is pulled, and refuse one that is too large."""
    size = sum(layer_sizes(archive))
    print(f"{archive}: {size / 10**6:.0f} MB to pull.")
    if size > MAX_IMAGE_BYTES:
        sys.exit(f"That is more than {MAX_IMAGE_BYTES // 10**6} MB.")


def check(archive: Path) -> None:
    """Unpack an image, serve from it, wait for its health check, and ask it something.

    It needs bubblewrap, and root to take the image's user.
    """
    with tempfile.TemporaryDirectory() as place:
        root, data = Path(place) / "root", Path(place) / "data"
        Path(place).chmod(0o755)
        config = unpack_image(archive, root)
        uid, gid = map(int, config["User"].split(":"))
        files = {status.st_ino: status for path in root.rglob("*") if (status := path.lstat())}
        size = sum(status.st_size for status in files.values())
        print(f"Unpacked: {size / 10**6:.0f} MB.")
        data.mkdir(mode=0o700)
        os.chown(data, uid, gid)
        inside = sandbox(root, data, config)
        command = [*inside, *config["Entrypoint"], *config["Cmd"]]
        with subprocess.Popen(command) as server:
            try:
                began = time.monotonic()
                wait([*inside, *config["Healthcheck"]["Test"][1:]], server)
                print(f"Ready after {time.monotonic() - began:.1f} s.")
                subprocess.run([*inside, *config["Entrypoint"], *QUESTION], check=True)
                writes = [*inside, "python3", "-c", "open('/usr/written', 'w')"]
                if not subprocess.run(writes, check=False, capture_output=True).returncode:
                    sys.exit("The root can be written to.")
            finally:
                server.terminate()
                server.wait(30)
    print("The image serves as its own user from a read-only root.")


def sandbox(root: Path, data: Path, config: dict[str, Any]) -> list[str]:
    """The command that runs another as the image's user, in the image's files."""
    user, _, group = config["User"].partition(":")
    variables = {
        **dict(each.split("=", 1) for each in config["Env"]),
        "PORCH_LISTEN__PORT": PORT,
        "PORCH_PUBLIC_URL": f"http://127.0.0.1:{PORT}",
    }
    written = [part for pair in variables.items() for part in ("--setenv", *pair)]
    volume = next(iter(config["Volumes"]))
    return [
        *("setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs"),
        *("bwrap", "--ro-bind", str(root), "/", "--bind", str(data), volume, "--tmpfs", "/tmp"),  # noqa: S108
        *("--proc", "/proc", "--dev", "/dev", "--chdir", config["WorkingDir"], "--clearenv"),
        *written,
        *("--die-with-parent",),
    ]


def wait(probe: list[str], server: subprocess.Popen[bytes]) -> None:
    """Wait until the health check succeeds."""
    deadline = time.monotonic() + READY_SECONDS
    while subprocess.run(probe, check=False, capture_output=True).returncode:
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("The portal in the image does not become ready.")
        time.sleep(0.5)
