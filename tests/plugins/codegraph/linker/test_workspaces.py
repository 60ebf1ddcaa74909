"""A call from one package of a monorepo to another is an edge, whatever tool holds it together."""

from __future__ import annotations

import pytest

from plugins.codegraph.languages.registry import languages
from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.linker.in_memory import InMemoryView, link_tree, parse_tree

Files = dict[str, str]
JAVASCRIPT = {
    "packages/lib/package.json": '{"name": "@x/lib", "main": "dist/index.js"}',
    "packages/lib/src/index.ts": 'export { pour } from "./water";\n',
    "packages/lib/src/water.ts": "export function pour(): void {}\n",
    "packages/app/package.json": '{"name": "@x/app", "dependencies": {"@x/lib": "*"}}',
    "packages/app/src/main.ts": 'import { pour } from "@x/lib";\n\nfunction go() { pour(); }\n',
}
LISTED = '{"name": "root", "workspaces": ["packages/*"]}'
NX = {
    "nx.json": "{}",
    "tsconfig.base.json": '{"compilerOptions": {"paths": {"@x/lib": ["libs/lib/src/index.ts"]}}}',
    "libs/lib/project.json": '{"name": "lib"}',
    "libs/lib/tsconfig.json": '{"extends": "../../tsconfig.base.json"}',
    "libs/lib/src/index.ts": 'export * from "./water";\n',
    "libs/lib/src/water.ts": "export function pour(): void {}\n",
    "apps/app/project.json": '{"name": "app"}',
    "apps/app/tsconfig.json": '{"extends": "../../tsconfig.base.json"}',
    "apps/app/src/main.ts": 'import { pour } from "@x/lib";\n\nfunction go() { pour(); }\n',
}
UV = {
    "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n',
    "packages/lib/pyproject.toml": '[project]\nname = "the-lib"\n',
    "packages/lib/src/lib/__init__.py": "from lib.water import pour\n",
    "packages/lib/src/lib/water.py": "def pour():\n    pass\n",
    "packages/app/pyproject.toml": '[project]\nname = "app"\n',
    "packages/app/src/app/main.py": "from lib import pour\n\ndef go():\n    pour()\n",
}
CARGO = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/lib/Cargo.toml": '[package]\nname = "the-lib"\n',
    "crates/lib/src/lib.rs": "mod water;\npub use water::pour;\n",
    "crates/lib/src/water.rs": "pub fn pour() {}\n",
    "crates/app/Cargo.toml": (
        '[package]\nname = "app"\n[dependencies]\nthe-lib = { path = "../lib" }\n'
    ),
    "crates/app/src/main.rs": "use the_lib::pour;\nfn go() { pour(); }\n",
}
GO = {
    "go.work": "go 1.22\nuse (\n\t./app\n\t./lib\n)\n",
    "lib/go.mod": "module example.org/lib\n",
    "lib/water/water.go": "package water\n\nfunc Pour() {}\n",
    "app/go.mod": "module example.org/app\n",
    "app/main.go": (
        'package main\n\nimport "example.org/lib/water"\n\nfunc go1() { water.Pour() }\n'
    ),
}


@pytest.mark.parametrize(
    ("tool", "files"),
    [
        ("npm", {"package.json": LISTED, "package-lock.json": "{}", **JAVASCRIPT}),
        ("yarn", {"package.json": LISTED, "yarn.lock": "", **JAVASCRIPT}),
        ("pnpm", {"pnpm-workspace.yaml": "packages: ['packages/*']", **JAVASCRIPT}),
        ("lerna", {"lerna.json": '{"packages": ["packages/*"]}', **JAVASCRIPT}),
        ("turborepo", {"package.json": LISTED, "turbo.json": "{}", **JAVASCRIPT}),
        ("nx", {"package.json": LISTED, "nx.json": "{}", **JAVASCRIPT}),
        ("nx", NX),
        ("uv", UV),
        ("cargo", CARGO),
        ("go.work", GO),
    ],
)
def test_a_call_from_package_to_package_is_an_edge(tool: str, files: Files) -> None:
    tree = {path: text.encode() for path, text in files.items()}
    found = link_tree("r", tree)
    names = {each.key: each.qualified for each in found.entities}
    calls = [each for each in found.edges if each.kind is EdgeKind.CALLS]
    assert [(names[each.source][:2], names[each.target].lower()) for each in calls] == [
        ("go", "pour")
    ]
    assert [each.name for each in found.unresolved] == []
    view = InMemoryView("r", *parse_tree(tree))
    held = {each.tool for language in languages() for each in language.packages(view)}
    assert tool in held
