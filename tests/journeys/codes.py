"""Two checkouts as a community has them: a Python project, and a TypeScript monorepo of pnpm."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

ORCHARD = {
    "pyproject.toml": '[project]\nname = "orchard"\nversion = "1"\n',
    "src/orchard/__init__.py": "from orchard.press import press as press, weigh as weigh\n",
    "src/orchard/press.py": (
        "class Press:\n"
        "    def squeeze(self, apples):\n"
        '        """Turn apples into juice, in litres."""\n'
        "        return weigh(apples) / 2\n"
        "\n"
        "\n"
        "def weigh(apples):\n"
        '    """How heavy a basket is, in kilograms."""\n'
        "    return len(apples)\n"
        "\n"
        "\n"
        "def press(apples):\n"
        "    machine = Press()\n"
        "    return machine.squeeze(apples)\n"
    ),
    "src/orchard/shop.py": (
        "import orchard\n"
        "\n"
        "\n"
        "def sell(apples):\n"
        '    """What somebody pays at the gate."""\n'
        "    return 3 * orchard.weigh(apples)\n"
    ),
    # The same name, which has nothing to do with it.
    "src/orchard/anchor.py": (
        "class Anchor:\n    def weigh(self):\n        pass\n\n\ndef sail():\n    Anchor().weigh()\n"
    ),
    "tests/test_shop.py": (
        "from orchard.shop import sell\n\n\ndef test_sell():\n    assert sell([]) == 0\n"
    ),
}
"""``weigh`` is called by ``Press.squeeze`` and, through the package, by ``sell``."""

_PACKAGE = '{"name": "@market/prices", "version": "1.0.0", "main": "src/index.ts"}\n'
MARKET = {
    "package.json": '{"name": "market", "private": true}\n',
    "pnpm-workspace.yaml": "packages:\n  - packages/*\n  - apps/*\n",
    "tsconfig.base.json": (
        "{\n  // What every package is built with.\n"
        '  "compilerOptions": {\n    "baseUrl": ".",\n'
        '    "paths": {"@shared/*": ["packages/shared/src/*"]},\n  },\n'
        "}\n"
    ),
    "packages/prices/package.json": _PACKAGE,
    "packages/prices/src/index.ts": 'export * from "./vat";\n',
    "packages/prices/src/vat.ts": (
        "/** Adds the value added tax to a net price. */\n"
        "export function withVat(net: number): number {\n  return net * 1.2;\n}\n"
    ),
    "packages/shared/src/log.ts": "export const log = (text: string): void => console.log(text);\n",
    "apps/web/package.json": (
        '{"name": "web", "dependencies": {"@market/prices": "workspace:*"}}\n'
    ),
    "apps/web/tsconfig.json": '{"extends": "../../tsconfig.base.json"}\n',
    "apps/web/src/cart.ts": (
        'import { withVat } from "@market/prices";\n'
        'import { log } from "@shared/log";\n'
        "\n"
        "export class Cart {\n"
        "  total(nets: number[]): number {\n"
        '    log("total");\n'
        "    return nets.map((net) => withVat(net)).reduce((a, b) => a + b, 0);\n"
        "  }\n"
        "}\n"
    ),
    "apps/web/src/cart.test.ts": (
        'import { Cart } from "./cart";\n'
        "\n"
        'test("a total", () => {\n  expect(new Cart().total([1])).toBe(1.2);\n});\n'
    ),
}
"""``withVat`` is called by ``Cart.total``, through a workspace's package and its barrel."""


def checkout(root: Path, files: Mapping[str, str]) -> Path:
    """A checkout of one commit."""
    write(root, files)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message=The first")
    return root


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write files of a checkout."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def git(root: Path, *arguments: str) -> str:
    """What git prints."""
    who = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    done = subprocess.run(
        ["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout


def unsent(root: Path) -> dict[str, str]:
    """What is not committed in a checkout, as the bootstrap rule has an agent send it."""
    git(root, "add", "-N", ".")
    return {
        "diff": git(root, "diff", "HEAD"),
        "branch": git(root, "branch", "--show-current").strip(),
        "baseSha": git(root, "rev-parse", "HEAD").strip(),
    }
