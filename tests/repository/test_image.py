"""What the container image is made of; `make image ARGS=--check` builds one and runs it."""

import json
import os
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from scripts import image_check
from scripts.containerfile import last_stage
from scripts.oci_layout import layer_sizes, unpack_image, write_image

ROOT = Path(__file__).parents[2]
CONTAINERFILE = ROOT / "packaging" / "Containerfile"
WORDS = {
    *("ARG", "FROM", "RUN", "COPY", "WORKDIR", "LABEL", "ENV", "USER", "VOLUME", "EXPOSE"),
    *("STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"),
}


def tree(place: Path) -> Path:
    root = place / "root"
    (root / "usr" / "bin").mkdir(parents=True)
    (root / "usr" / "bin" / "tool").write_text("#!/bin/sh\n")
    (root / "usr" / "bin" / "tool").chmod(0o755)
    os.link(root / "usr" / "bin" / "tool", root / "usr" / "bin" / "same")
    (root / "bin").symlink_to("usr/bin")
    return root


def image(place: Path, archive: Path) -> Path:
    root = tree(place)
    before = {path: path.lstat().st_mtime_ns for path in root.rglob("*")}
    (root / "srv").mkdir()
    (root / "srv" / "portal").write_text("the portal")
    write_image(root, before, {"User": "10001:10001"}, archive, "porch:1")
    return archive


def test_the_portal_runs_as_a_user_of_its_own_and_is_asked_whether_it_is_ready() -> None:
    config = last_stage(CONTAINERFILE).config
    uid, gid = config["User"].split(":")
    assert int(uid) >= 10_000
    assert int(gid) >= 10_000
    assert config["Entrypoint"] + config["Cmd"] == ["porch", "serve"]
    assert "/readyz" in config["Healthcheck"]["Test"][-1]
    assert config["Healthcheck"]["Interval"] == 10 * 10**9
    variables = dict(each.split("=", 1) for each in config["Env"])
    assert variables["PORCH_DATA"] in config["Volumes"]
    assert config["ExposedPorts"] == {"8321/tcp": {}}
    assert {"org.opencontainers.image.title", "org.opencontainers.image.licenses"} <= config[
        "Labels"
    ].keys()


def test_what_the_containerfile_says_is_known_and_what_it_copies_is_there() -> None:
    lines = CONTAINERFILE.read_text().replace("\\\n", "").splitlines()
    said = [line.split() for line in lines if line and not line.startswith("#")]
    assert {words[0] for words in said} <= WORDS
    copied = [words[1:-1] for words in said if words[0] == "COPY" and "--from" not in words[1]]
    assert all((ROOT / each).exists() for sources in copied for each in sources)
    files = [f"config/{name}.yaml" for name in ("plans", "portal", "tiers")]
    assert copied[-2:] == [files, ["content"]]
    assert "latest" not in CONTAINERFILE.read_text()


def test_what_it_copies_is_sent_to_the_engine() -> None:
    sent = (CONTAINERFILE.parent / "Containerfile.dockerignore").read_text().splitlines()
    stages = [line.split()[1:-1] for line in CONTAINERFILE.read_text().splitlines()
              if line.startswith("COPY") and "--from" not in line]  # fmt: skip
    for source in (each for sources in stages for each in sources):
        top = source.partition("/")[0]
        assert any(line in {f"!{source}", f"!{top}", f"!{top}/*.yaml"} for line in sent), source


def test_an_image_is_unpacked_as_it_was_packed(tmp_path: Path) -> None:
    config = unpack_image(image(tmp_path, tmp_path / "image.tar"), tmp_path / "unpacked")
    unpacked = tmp_path / "unpacked"
    assert config == {"User": "10001:10001"}
    assert (unpacked / "srv" / "portal").read_text() == "the portal"
    assert stat.S_IMODE((unpacked / "usr" / "bin" / "tool").stat().st_mode) == 0o755
    assert (unpacked / "bin").readlink() == Path("usr/bin")
    assert (unpacked / "usr" / "bin" / "same").stat().st_nlink == 2


def test_what_comes_on_top_is_a_layer_of_its_own(tmp_path: Path) -> None:
    with tarfile.open(image(tmp_path, tmp_path / "image.tar")) as layout:
        names = layout.getnames()
        index = layout.extractfile("index.json")
        assert index is not None
        (entry,) = json.load(index)["manifests"]
    assert {"oci-layout", "index.json"} <= set(names)
    assert entry["annotations"] == {"org.opencontainers.image.ref.name": "porch:1"}
    assert len([name for name in names if name.startswith("blobs/sha256/")]) == 4


def test_an_image_is_as_large_as_its_layers_are_sent_and_may_not_be_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = image(tmp_path, tmp_path / "image.tar")
    with tarfile.open(archive) as layout:
        layers = sorted(each.size for each in layout.getmembers() if each.name.startswith("blobs/"))
    assert set(layer_sizes(archive)) < set(layers)
    image_check.weigh(archive)
    assert "0 MB to pull" in capsys.readouterr().out
    monkeypatch.setattr(image_check, "MAX_IMAGE_BYTES", sum(layer_sizes(archive)) - 1)
    with pytest.raises(SystemExit, match="more than"):
        image_check.weigh(archive)


def test_what_no_portal_runs_is_taken_out_of_wheels(tmp_path: Path) -> None:
    kept = {"gateway/testing/tests/kit.py", "numpy/core.py", "onnxruntime/capi/session.py"}
    gone = {
        *("numpy/tests/test_core.py", "numpy/lib/tests/test_lib.py", "uvloop/loop.pyx"),
        *("onnx/model.py", "onnxruntime/quantization/quantize.py", "greenlet/greenlet.h"),
    }
    for name in kept | gone:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    subprocess.run([ROOT / "packaging" / "slim", tmp_path], check=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == kept


def test_the_same_files_are_the_same_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = image(tmp_path / "one", tmp_path / "one.tar")
    two = image(tmp_path / "two", tmp_path / "two.tar")
    assert one.read_bytes() == two.read_bytes()


def test_an_image_that_was_changed_is_not_unpacked(tmp_path: Path) -> None:
    archive = image(tmp_path, tmp_path / "image.tar")
    with tarfile.open(archive) as layout:
        layer = max(layout.getmembers(), key=lambda member: member.size)
    raw = bytearray(archive.read_bytes())
    raw[layer.offset_data + layer.size // 2] ^= 1
    archive.write_bytes(raw)
    with pytest.raises(ValueError, match="is not what the image holds"):
        unpack_image(archive, tmp_path / "unpacked")


def test_the_command_in_the_image_is_the_portals() -> None:
    command = ROOT / "packaging" / "porch"
    assert os.access(command, os.X_OK)
    compile(command.read_text(), str(command), "exec")
    ignored = subprocess.run(["git", "check-ignore", command], cwd=ROOT, check=False)
    assert ignored.returncode == 1
