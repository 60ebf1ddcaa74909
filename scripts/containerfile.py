"""What the last stage of a Containerfile says, as the configuration of an OCI image."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SECONDS = {"s": 1, "m": 60}
_NANOSECONDS = 10**9


@dataclass
class Stage:
    """A stage of a Containerfile.

    Attributes:
        arguments: its ``ARG`` with their defaults.
        copied: what it copies from the project: where to, by what.
        config: the image's configuration (OCI image specification, config), with the
            ``Healthcheck`` that Docker keeps there too.
    """

    arguments: dict[str, str] = field(default_factory=dict)
    copied: dict[str, str] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)


def last_stage(path: Path) -> Stage:
    """Read a Containerfile's last stage.

    Raises:
        ValueError: it has an instruction that is not known here.
    """
    stage = Stage()
    for word, rest in _instructions(path.read_text()):
        if word == "FROM":
            stage = Stage()
        elif word == "ARG":
            stage.arguments |= _pairs(rest)
        elif word == "COPY" and not rest.startswith("--from="):
            *sources, target = rest.split()
            stage.copied |= {each: _below(target, each) for each in sources}
        elif word not in {"RUN", "COPY"}:
            _configure(stage.config, word, rest)
    return stage


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    for line in filter(None, whole.splitlines()):
        word, _, rest = line.partition(" ")
        yield word.upper(), rest.strip()


def _pairs(text: str) -> dict[str, str]:
    return {key: value for key, _, value in (each.partition("=") for each in shlex.split(text))}


def _below(target: str, source: str) -> str:
    return f"{target}{Path(source).name}" if target.endswith("/") else target


def _configure(config: dict[str, Any], word: str, rest: str) -> None:
    names = {"USER": "User", "WORKDIR": "WorkingDir", "STOPSIGNAL": "StopSignal"}
    if word in names:
        config[names[word]] = rest
    elif word in {"ENTRYPOINT", "CMD"}:
        config[word.title()] = json.loads(rest)
    elif word == "ENV":
        config.setdefault("Env", []).extend(f"{key}={value}" for key, value in _pairs(rest).items())
    elif word == "LABEL":
        config.setdefault("Labels", {}).update(_pairs(rest))
    elif word == "VOLUME":
        config["Volumes"] = {each: {} for each in json.loads(rest)}
    elif word == "EXPOSE":
        config["ExposedPorts"] = {f"{rest}/tcp": {}}
    elif word == "HEALTHCHECK":
        config["Healthcheck"] = _health_check(rest)
    else:
        raise ValueError(f"{word} is not known here; teach scripts/containerfile.py")


def _health_check(rest: str) -> dict[str, Any]:
    options, _, command = rest.partition(" CMD ")
    given = _pairs(options)
    times = {"interval": "Interval", "timeout": "Timeout", "start-period": "StartPeriod"}
    spans = {
        name: int(written[:-1]) * _SECONDS[written[-1]] * _NANOSECONDS
        for option, name in times.items()
        if (written := given.get(f"--{option}"))
    }
    return {"Test": ["CMD", *json.loads(command)], "Retries": int(given["--retries"]), **spans}
