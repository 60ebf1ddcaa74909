"""Runs commands of ``porch`` one after the other in one process, which starts them far sooner.

Run by the portal's own Python, with a list of ``[directory, arguments]`` as JSON on its input; it
prints what each did. The command is found by its entry point, as its script finds it.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from typing import Any


def run(main: Callable[[], Any], directory: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Run one command; gives its exit code and what it printed."""
    os.chdir(directory)
    sys.argv = ["porch", *arguments]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
            code: Any = 0
        except SystemExit as ended:
            code = ended.code
    return {"code": code or 0, "stdout": out.getvalue(), "stderr": err.getvalue()}


if __name__ == "__main__":
    (script,) = entry_points(group="console_scripts", name="porch")
    command = script.load()
    json.dump([run(command, *each) for each in json.load(sys.stdin)], sys.stdout)
