"""A pytest plugin that writes down who called whom in a package while its tests ran.

Loaded with ``-p benchmarks.call_tracer``. ``TRACED_ROOT`` is the directory whose code counts, and
``TRACED_OUT`` the file to write: a JSON list of pairs of [path, qualified name].

A call is one that the text makes: of the special methods only those that ``x()`` runs count, and
generators count where they are made rather than where they go on. Code inside of a lambda or a
comprehension is that of the function around it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_ROOT = os.environ["TRACED_ROOT"].rstrip("/") + "/"
_OUT = os.environ["TRACED_OUT"]
_CALLED = {"__init__", "__call__", "__new__", "__init_subclass__"}
_SPECIAL = re.compile(r"__\w+__")
_ANONYMOUS = re.compile(r"(?:^|\.)(?:<locals>\.)?<(?:lambda|listcomp|dictcomp|setcomp|genexpr)>")
_pairs: set[tuple[CodeType, CodeType]] = set()


def _profile(frame: FrameType, event: str, _: Any) -> None:
    if event != "call" or frame.f_lasti > 0:
        return
    caller = frame.f_back
    if caller and all(each.f_code.co_filename.startswith(_ROOT) for each in (frame, caller)):
        _pairs.add((caller.f_code, frame.f_code))


def pytest_configure() -> None:
    """Begin."""
    threading.setprofile(_profile)
    sys.setprofile(_profile)


def pytest_unconfigure() -> None:
    """Write the pairs."""
    sys.setprofile(None)
    named = {(_place(caller), _place(callee)) for caller, callee in _pairs if _counts(callee)}
    pairs = sorted((source, target) for source, target in named if target[1])
    Path(_OUT).write_text(json.dumps(pairs))


@cache
def _place(code: CodeType) -> tuple[str, str]:
    """The file, and the name within it; "" for the file's own body."""
    name = code.co_qualname
    anonymous = _ANONYMOUS.search(name)
    name = name[: anonymous.start()] if anonymous else name
    named = "" if name == "<module>" else name.replace("<locals>.", "").removesuffix(".<locals>")
    return code.co_filename.removeprefix(_ROOT), named


def _counts(code: CodeType) -> bool:
    optimised = code.co_flags & 1  # a function; the body of a class or of a file is not
    ordinary = code.co_name in _CALLED or not _SPECIAL.fullmatch(code.co_name)
    return bool(optimised and ordinary and not code.co_name.startswith("<"))
