"""Programs whose health is known: so many of each fault are planted, beside decoys of it.

Each language gives the files, and what is to be found in them by analysis. Decoys are functions
that a decorator registers, a text names or an entry re-exports, circles of types, and bodies that
share two lines; what is found of them is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

WORDS = ("amount", "border", "canvas", "driver", "engine", "filter", "gadget", "handle", "island")


@dataclass(frozen=True)
class Seeded:
    """A program, and what is planted in it.

    Attributes:
        files: its files.
        dead, exports: the names that are to be found.
        duplicates: the pairs of names.
        cycles: the pairs of files.
    """

    files: Mapping[str, str]
    dead: set[str] = field(default_factory=set)
    exports: set[str] = field(default_factory=set)
    duplicates: set[frozenset[str]] = field(default_factory=set)
    cycles: set[frozenset[str]] = field(default_factory=set)


def python(count: int, seed: int = 1) -> Seeded:
    """An application in Python with so many of each fault."""
    chance = random.Random(seed)
    made = Seeded({})
    files: dict[str, str] = {"shop/__init__.py": "", "shop/registry.py": _REGISTRY}
    runs = ["import shop.registry"]
    for at in range(count):
        files[f"shop/dead_{at}.py"] = _py_dead(at)
        files[f"shop/face_{at}/__init__.py"] = f"from .inner import shown_{at}\n"
        files[f"shop/face_{at}/inner.py"] = f"def shown_{at}():\n    return {at}\n"
        first, second = _py_copies(at, chance)
        files[f"shop/copy_{at}.py"], files[f"shop/again_{at}.py"] = first, second
        files[f"shop/cycle_{at}.py"] = f"import shop.round_{at}\n\nNAME_{at} = {at}\n"
        files[f"shop/round_{at}.py"] = f"import shop.cycle_{at}\n\nOTHER_{at} = {at}\n"
        files[f"shop/typed_{at}.py"] = f"from shop.types_{at} import T{at}\n\nX{at} = T{at}\n"
        files[f"shop/types_{at}.py"] = (
            f"from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
            f"    from shop.typed_{at} import X{at}\n\n\nclass T{at}:\n    pass\n"
        )
        files[f"shop/export_{at}.py"] = (
            f"def only_here_{at}():\n    return {at}\n\n\n"
            f"def entry_{at}():\n    return only_here_{at}()\n"
        )
        runs += [
            f"from shop import dead_{at}",
            f"from shop.dead_{at} import used_{at}, Used{at}",
            f"import shop.face_{at}",
            f"from shop.copy_{at} import first_{at}, near_{at}",
            f"from shop.again_{at} import second_{at}, far_{at}",
            f"import shop.cycle_{at}",
            f"import shop.typed_{at}",
            f"from shop.export_{at} import entry_{at}",
            f"used_{at}(), Used{at}().run_{at}(), getattr(dead_{at}, 'by_text_{at}')()",
            f"first_{at}([]), second_{at}([]), near_{at}([]), far_{at}([]), entry_{at}()",
        ]
        made.dead.update((f"dead_{at}", f"chained_{at}", f"Used{at}.spare_{at}"))
        made.exports.add(f"only_here_{at}")
        made.duplicates.add(frozenset((f"first_{at}", f"second_{at}")))
        made.cycles.add(frozenset((f"shop/cycle_{at}.py", f"shop/round_{at}.py")))
    files["main.py"] = "\n".join(runs) + "\n"
    return Seeded(files, made.dead, made.exports, made.duplicates, made.cycles)


_REGISTRY = (
    "KNOWN = []\n\n\ndef register(function):\n    KNOWN.append(function)\n    return function\n"
)


def _py_dead(at: int) -> str:
    return f"""from shop.registry import register


def used_{at}():
    return {at}


def dead_{at}():
    return chained_{at}() + 1


def chained_{at}():
    return {at}


@register
def registered_{at}():
    return {at}


def by_text_{at}():
    return {at}


class Used{at}:
    def run_{at}(self):
        return {at}

    def spare_{at}(self):
        return {at}

    def __repr__(self):
        return "{at}"
"""


def _py_copies(at: int, chance: random.Random) -> tuple[str, str]:
    """Two functions that are copies, and two that share two lines."""
    one, other, third = (f"{word}_{at}" for word in chance.sample(WORDS, 3))
    body = """def {name}({items}):
    {total} = {start}
    for {each} in {items}:
        if {each}.{member} and {each}.price > {limit}:
            {total} += {each}.price * {each}.{member}
        elif {each}.is_gift():
            {total} -= {each}.discount(lowest={limit})
        else:
            _log({each}.name, {total})
    return round({total}, 2)
"""
    start, limit = chance.randrange(9), chance.randrange(90)
    member = f"stock_{at}"
    shared = {"member": member, "start": start, "limit": limit}
    first = body.format(name=f"first_{at}", items="items", total="total", each="each", **shared)
    second = body.format(name=f"second_{at}", items=one, total=other, each=third, **shared)
    near = f"""
def near_{at}(rows):
    found = []
    for row in rows:
        if row.ready_{at}:
            found.append(row.value_{at})
        while row.more_{at}():
            row.step_{at}(len(found))
    return sorted(found, key=str)
"""
    far = f"""
def far_{at}(rows):
    found = []
    for row in rows:
        try:
            found.extend(row.parts_{at}(deep=True))
        except ValueError as error:
            _warn_{at}(error, row)
            continue
    return {{len(each): each for each in found if each.open_{at}}}
"""
    log = "\ndef _log(name, total):\n    return name, total\n"
    warn = f"\ndef _warn_{at}(a, b):\n    return a, b\n"
    return first + near + log, second + far + log + warn


def typescript(count: int, seed: int = 1) -> Seeded:
    """An application in TypeScript with so many of each fault."""
    chance = random.Random(seed)
    made = Seeded({})
    files: dict[str, str] = {"package.json": '{"name": "shop", "private": true}'}
    runs, calls = [], []
    for at in range(count):
        files[f"src/dead_{at}.ts"] = _ts_dead(at)
        files[f"src/face_{at}/index.ts"] = f'export {{ shown_{at} }} from "./inner";\n'
        files[f"src/face_{at}/inner.ts"] = f"export function shown_{at}() {{ return {at}; }}\n"
        files[f"src/copy_{at}.ts"], files[f"src/again_{at}.ts"] = _ts_copies(at, chance)
        files[f"src/cycle_{at}.ts"] = _ts_cycle(at, "cycle", "round")
        files[f"src/round_{at}.ts"] = _ts_cycle(at, "round", "cycle")
        files[f"src/typed_{at}.ts"] = (
            f'import type {{ B{at} }} from "./types_{at}";\n'
            f"export interface A{at} {{ b: B{at}; }}\nexport const a_{at} = 1;\n"
        )
        files[f"src/types_{at}.ts"] = (
            f'import {{ type A{at} }} from "./typed_{at}";\n'
            f"export interface B{at} {{ a: A{at}; }}\n"
        )
        files[f"src/export_{at}.ts"] = (
            f"export function onlyHere_{at}() {{ return {at}; }}\n"
            f"export function entry_{at}() {{ return onlyHere_{at}(); }}\n"
        )
        runs += [
            f'import * as dead_{at} from "./dead_{at}";',
            f'import {{ used_{at}, Used{at} }} from "./dead_{at}";',
            f'import {{ shown_{at} }} from "./face_{at}";',
            f'import {{ first_{at}, near_{at} }} from "./copy_{at}";',
            f'import {{ second_{at}, far_{at} }} from "./again_{at}";',
            f'import {{ cycle_{at} }} from "./cycle_{at}";',
            f'import {{ a_{at}, type A{at} }} from "./typed_{at}";',
            f'import {{ entry_{at} }} from "./export_{at}";',
        ]
        calls += [
            f"used_{at}(); new Used{at}().run_{at}(); shown_{at}(); cycle_{at}(); entry_{at}();",
            f"first_{at}([]); second_{at}([]); near_{at}([]); far_{at}([]);",
            f'dead_{at}["byText_{at}"](); const x_{at}: A{at} | number = a_{at};',
        ]
        made.dead.update((f"dead_{at}", f"chained_{at}", f"Used{at}.spare_{at}"))
        made.exports.add(f"onlyHere_{at}")
        made.duplicates.add(frozenset((f"first_{at}", f"second_{at}")))
        made.cycles.add(frozenset((f"src/cycle_{at}.ts", f"src/round_{at}.ts")))
    files["src/main.ts"] = "\n".join([*runs, *calls]) + "\n"
    return Seeded(files, made.dead, made.exports, made.duplicates, made.cycles)


def _ts_cycle(at: int, here: str, there: str) -> str:
    return (
        f'import {{ {there}_{at} }} from "./{there}_{at}";\n'
        f"export function {here}_{at}(): unknown {{ return {there}_{at}; }}\n"
    )


def _ts_dead(at: int) -> str:
    return f"""function register(target: unknown) {{ return target; }}

export function used_{at}() {{ return register({at}); }}

export function dead_{at}() {{ return chained_{at}() + 1; }}

function chained_{at}() {{ return {at}; }}

function passed_{at}() {{ return {at}; }}
register(passed_{at});

export function byText_{at}() {{ return {at}; }}

export class Used{at} {{
  run_{at}() {{ return {at}; }}
  spare_{at}() {{ return {at}; }}
  toString() {{ return "{at}"; }}
}}
"""


def _ts_copies(at: int, chance: random.Random) -> tuple[str, str]:
    one, other, third = (f"{word}_{at}" for word in chance.sample(WORDS, 3))
    body = """export function {name}({items}: Thing[]) {{
  let {total} = {start};
  for (const {each} of {items}) {{
    if ({each}.{member} && {each}.price > {limit}) {{
      {total} += {each}.price * {each}.{member};
    }} else if ({each}.isGift()) {{
      {total} -= {each}.discount({limit});
    }} else {{
      console.log({each}.name, {total});
    }}
  }}
  return Math.round({total});
}}
"""
    shared = {"member": f"stock_{at}", "start": chance.randrange(9), "limit": chance.randrange(90)}
    first = body.format(name=f"first_{at}", items="items", total="total", each="each", **shared)
    second = body.format(name=f"second_{at}", items=one, total=other, each=third, **shared)
    near = f"""
export function near_{at}(rows: Thing[]) {{
  const found = [];
  for (const row of rows) {{
    if (row.ready_{at}) {{ found.push(row.value_{at}); }}
    while (row.more_{at}()) {{ row.step_{at}(found.length); }}
  }}
  return found.sort();
}}
"""
    far = f"""
export function far_{at}(rows: Thing[]) {{
  const found = [];
  for (const row of rows) {{
    try {{ found.push(...row.parts_{at}({{ deep: true }})); }}
    catch (error) {{ console.warn(error, row); continue; }}
  }}
  return Object.fromEntries(found.map((each) => [each.size_{at}, each.open_{at}]));
}}
"""
    thing = "\ntype Thing = any;\n"
    return first + near + thing, second + far + thing
