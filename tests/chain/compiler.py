"""The contracts of the tests, compiled once in a process."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "contracts"


@dataclass(frozen=True)
class Contract:
    """What the compiler made of one source.

    Attributes:
        creation: the code that deploys it, without the arguments of its constructor.
        runtime: the code that stands at its address.
        functions: the types of what each function takes, and of what it returns.
        constructor: the types of the constructor's arguments.
    """

    creation: str
    runtime: str
    functions: dict[str, tuple[list[str], list[str]]]
    constructor: list[str]


@functools.cache
def compiled() -> dict[str, Contract]:
    """Every contract by its name: ``hats``, ``erc20``, ``wallet`` and so on."""
    sources = sorted(f"{path}" for path in SOURCES.glob("*.vy"))
    command = [sys.executable, "-m", "vyper", "-f", "combined_json", *sources]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return {
        Path(path).stem: _contract(output)
        for path, output in json.loads(output).items()
        if path != "version"
    }


def _contract(output: dict[str, Any]) -> Contract:
    functions = {
        entry["name"]: (_types(entry["inputs"]), _types(entry["outputs"]))
        for entry in output["abi"]
        if entry["type"] == "function"
    }
    constructor = [_types(entry["inputs"]) for entry in output["abi"] if "name" not in entry]
    return Contract(
        creation=output["bytecode"],
        runtime=output["bytecode_runtime"],
        functions=functions,
        constructor=constructor[0] if constructor else [],
    )


def _types(parameters: list[dict[str, Any]]) -> list[str]:
    return [_type(parameter) for parameter in parameters]


def _type(parameter: dict[str, Any]) -> str:
    if not parameter["type"].startswith("tuple"):
        return str(parameter["type"])
    inner = ",".join(_types(parameter["components"]))
    return f"({inner}){parameter['type'].removeprefix('tuple')}"
