"""Cyclomatic complexity in six languages, and what makes a hotspot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugins.codegraph.health.reading import read

PYTHON = """
def f(a, b):
    if a and b:
        return [each for each in a if each]
    elif b:
        pass
    for each in a:
        while each:
            break
    try:
        return 1 if a else 2
    except ValueError:
        match a:
            case 1:
                pass
            case _:
                pass

    def inner():
        return a or b

    return inner
"""
SCRIPT = """
export function f(a, b) {
  if (a && b) { return 1; } else if (a || b) { return 2; }
  for (const each of a) { while (each) { break; } }
  switch (a) { case 1: break; case 2: break; default: }
  try { return a ? 1 : 2; } catch (e) { return a ?? b; }
}
"""
GO = """package a

func f(a int, b bool) int {
	if a > 0 && b {
		return 1
	}
	for i := 0; i < a; i++ {
		switch i {
		case 1:
		default:
		}
	}
	return 2
}
"""
JAVA = """class A {
  int f(int a, boolean b) {
    if (a > 0 || b) { return 1; }
    for (int i = 0; i < a; i++) { while (b) { break; } }
    try { return b ? 1 : 2; } catch (RuntimeException e) { return 3; }
  }
}
"""
RUST = """
fn f(a: i32, b: bool) -> i32 {
    if a > 0 && b { return 1; }
    for _ in 0..a { loop { break; } }
    match a { 1 => 2, _ => 3 }
}
"""


@pytest.mark.parametrize(
    ("path", "text", "complexity"),
    [
        ("a.py", PYTHON, 12),
        ("a.ts", SCRIPT, 12),
        ("a.js", SCRIPT, 12),
        ("a.go", GO, 5),
        ("A.java", JAVA, 7),
        ("a.rs", RUST, 7),
    ],
)
async def test_each_branch_adds_a_way_through_the_function_that_it_is_in(
    path: str, text: str, complexity: int, tmp_path: Path, codegraph_file: Path
) -> None:
    found = await read({path: text}, tmp_path, codegraph_file)
    names = {found.code.entities[each.number].name: each.complexity for each in found.measured}
    assert names["f"] == complexity
    assert names.get("inner", 2) == 2


async def test_who_depends_on_a_function_makes_it_matter_more(
    tmp_path: Path, codegraph_file: Path
) -> None:
    branches = "\n".join(f"    if a == {each}:\n        return {each}" for each in range(20))
    text = f"def used(a):\n{branches}\n\n\ndef free(a):\n{branches}\n\n\ndef by():\n    used(1)\n"
    found = await read({"a.py": text}, tmp_path, codegraph_file)
    assert [found.code.entities[each.number].name for each in found.hot] == ["used", "free"]
    assert [each.complexity for each in found.hot] == [21, 21]
