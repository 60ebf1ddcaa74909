"""What running a Python case really calls, to check its ground truth against.

``python -m tests.plugins.codegraph.accuracy.trace CASE`` prints the edges. What a trace cannot see
is left to the one who writes ``expected.yaml``: a class without a constructor of its own, and what
a branch that does not run would call.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import CodeType, FrameType


def traced(root: Path) -> set[str]:
    """The calls between the case's own functions while ``main.py`` runs."""
    root = root.resolve()
    found: set[str] = set()

    def seen(frame: FrameType, event: str, arg: object) -> None:
        if event != "call":
            return
        callee = _named(frame, root)
        if callee is None or frame.f_code.co_name.startswith("<") or _is_class(frame.f_code):
            return
        caller = frame.f_back
        source = None if caller is None else _named(caller, root)
        if source is not None:
            found.add(f"{source} -> {callee}")

    before = set(sys.modules)
    sys.path.insert(0, str(root))
    try:
        sys.setprofile(seen)
        runpy.run_path(str(root / "main.py"), run_name="__main__")
    finally:
        sys.setprofile(None)
        sys.path.remove(str(root))
        for name in set(sys.modules) - before:
            del sys.modules[name]
    return found


def _is_class(code: CodeType) -> bool:
    return "__qualname__" in code.co_names and "__module__" in code.co_names


def _named(frame: FrameType, root: Path) -> str | None:
    """A frame's function as the graph names it: what has no name is the function around it."""
    code = frame.f_code
    try:
        path = Path(code.co_filename).resolve().relative_to(root).as_posix()
    except ValueError:
        return None
    kept = [part for part in code.co_qualname.split(".") if not part.startswith("<")]
    return f"{path}::{'.'.join(kept)}" if kept else path


if __name__ == "__main__":
    for case in sys.argv[1:]:
        for edge in sorted(traced(Path(case))):
            sys.stdout.write(f"{edge}\n")
