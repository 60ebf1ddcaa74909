"""Which file an import means: paths, configurations, packages."""

from __future__ import annotations

import pytest

from plugins.codegraph.languages.typescript import LANGUAGES
from plugins.codegraph.languages.typescript.resolution import resolve
from plugins.codegraph.languages.typescript.workspaces import packages
from tests.plugins.codegraph.linker.in_memory import InMemoryView, parse_tree

OUTSIDE = "outside"
UNKNOWN = ""


def world(files: dict[str, str]) -> InMemoryView:
    return InMemoryView("r", *parse_tree({path: text.encode() for path, text in files.items()}))


def meant(files: dict[str, str], path: str, module: str) -> str:
    target = resolve(world(files), path, module)
    return OUTSIDE if target.external else target.paths[0] if target.paths else UNKNOWN


NAMES = """
index.ts src/index.ts src/b.ts src/c.tsx src/d/index.js src/e.mts src/types.d.ts src/both.d.ts
src/both.js src/phone.native.ts src/package/lib/start.js
"""


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("./b", "src/b.ts"),
        ("./b.js", "src/b.ts"),
        ("./b.ts", "src/b.ts"),
        ("./c", "src/c.tsx"),
        ("./c.jsx", "src/c.tsx"),
        ("./d", "src/d/index.js"),
        ("./d/", "src/d/index.js"),
        ("./e.mjs", "src/e.mts"),
        ("./types", "src/types.d.ts"),
        ("./both", "src/both.js"),
        ("./phone", "src/phone.native.ts"),
        ("./package", "src/package/lib/start.js"),
        (".", "src/index.ts"),
        ("..", "index.ts"),
        (r".\b.js", "src/b.ts"),
        (r"..\src\\d", "src/d/index.js"),
        ("./b?raw", "src/b.ts"),
        ("./style.css", OUTSIDE),
        ("./missing", UNKNOWN),
        ("../../above", UNKNOWN),
        ("node:fs", OUTSIDE),
        ("react", OUTSIDE),
    ],
)
def test_paths_are_completed_as_the_tools_do(module: str, file: str) -> None:
    files = dict.fromkeys(NAMES.split(), "")
    files["src/package/package.json"] = '{"main": "lib/start"}'
    assert meant(files, "src/a.ts", module) == file


def test_declarations_beside_a_source_are_read_after_it() -> None:
    target = resolve(world({"a.js": "", "a.d.ts": "", "b.ts": ""}), "b.ts", "./a")
    assert target.paths == ("a.js", "a.d.ts")


CONFIGURED = {
    "tsconfig.base.json": """{
        // what all share
        "compilerOptions": {
            "baseUrl": ".",
            "paths": {
                "@/*": ["./src/*"], "@shared": ["./shared/main.ts"], "~*": ["./tilde/*"], /* */
            },
        },
    }""",
    "app/tsconfig.json": '{"extends": ["./local.tsconfig.json", "../tsconfig.base"]}',
    "app/local.tsconfig.json": '{"compilerOptions": {"strict": true}}',
    "app/a.ts": "",
    "src/x.ts": "",
    "src/deep/x.ts": "",
    "shared/main.ts": "",
    "tilde/y.ts": "",
}


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("@/x", "src/x.ts"),
        ("@/deep/x", "src/deep/x.ts"),
        ("@shared", "shared/main.ts"),
        ("~y", "tilde/y.ts"),
        ("src/x", "src/x.ts"),
        ("@/not/there", UNKNOWN),
        ("elsewhere", OUTSIDE),
    ],
)
def test_paths_and_base_url_come_by_extends(module: str, file: str) -> None:
    assert meant(CONFIGURED, "app/a.ts", module) == file


def test_a_solution_uses_the_paths_of_the_project_it_refers_to() -> None:
    files = {
        "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
        "tsconfig.app.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
        "src/a.ts": "",
        "src/b.ts": "",
    }
    assert meant(files, "src/a.ts", "@/b") == "src/b.ts"


def test_jsconfig_counts_for_javascript() -> None:
    files = {"jsconfig.json": '{"compilerOptions": {"baseUrl": "lib"}}', "lib/b.js": "", "a.js": ""}
    assert meant(files, "a.js", "b") == "lib/b.js"


def test_root_directories_count_as_one() -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"rootDirs": ["src", "made"]}}',
        "src/views/a.ts": "",
        "made/views/b.ts": "",
    }
    assert meant(files, "src/views/a.ts", "./b") == "made/views/b.ts"


def test_configurations_that_extend_each_other_end() -> None:
    files = {
        "tsconfig.json": '{"extends": "./tsconfig.other.json"}',
        "tsconfig.other.json": '{"extends": "./tsconfig.json"}',
        "a.ts": "",
    }
    assert meant(files, "a.ts", "x") == OUTSIDE


def package(name: str, more: str = "") -> str:
    return f'{{"name": "{name}"{", " + more if more else ""}}}'


@pytest.mark.parametrize(
    ("manifest", "module", "file"),
    [
        ('"main": "dist/index.js"', "lib", "packages/lib/src/index.ts"),
        ('"module": "./build/esm/index.mjs"', "lib", "packages/lib/src/index.ts"),
        ('"types": "dist/other.d.ts"', "lib", "packages/lib/src/other.ts"),
        ('"exports": "./dist/other.js"', "lib", "packages/lib/src/other.ts"),
        ('"exports": {"import": "./dist/other.js"}', "lib", "packages/lib/src/other.ts"),
        ('"exports": {"./o": {"a": ["./dist/other.cjs"]}}', "lib/o", "packages/lib/src/other.ts"),
        ('"exports": {"./*": "./dist/*.js"}', "lib/deep/one", "packages/lib/src/deep/one.ts"),
        ('"exports": {"./f/": "./dist/"}', "lib/f/other", "packages/lib/src/other.ts"),
        ('"exports": {".": {"source": "./src/other.ts", "default": "./dist/index.js"}}', "lib",
         "packages/lib/src/other.ts"),
        ("", "lib", "packages/lib/src/index.ts"),
        ("", "lib/src/other", "packages/lib/src/other.ts"),
        ("", "lib/deep/one", "packages/lib/src/deep/one.ts"),
        ("", "lib/nothing", UNKNOWN),
        ("", "library", OUTSIDE),
    ],
)  # fmt: skip
def test_a_package_of_the_workspace_is_its_source(manifest: str, module: str, file: str) -> None:
    files = {
        "package.json": package("root", '"workspaces": ["packages/*"]'),
        "packages/lib/package.json": package("lib", manifest),
        "packages/lib/src/index.ts": "",
        "packages/lib/src/other.ts": "",
        "packages/lib/src/deep/one.ts": "",
        "packages/app/package.json": package("app"),
        "packages/app/a.ts": "",
    }
    assert meant(files, "packages/app/a.ts", module) == file


def test_output_is_mapped_back_by_the_configuration() -> None:
    files = {
        "package.json": package("one", '"exports": {"./x": "./target/js/x.js"}'),
        "tsconfig.json": '{"compilerOptions": {"outDir": "target/js", "rootDir": "code"}}',
        "code/x.ts": "",
        "code/a.ts": "",
    }
    assert meant(files, "code/a.ts", "one/x") == "code/x.ts"


def test_private_names_of_a_package() -> None:
    files = {
        "package.json": package("one", '"imports": {"#in/*": "./src/*.js", "#out": "react"}'),
        "src/b.ts": "",
        "src/a.ts": "",
    }
    assert meant(files, "src/a.ts", "#in/b") == "src/b.ts"
    assert meant(files, "src/a.ts", "#out") == OUTSIDE
    assert meant(files, "src/a.ts", "#nothing") == UNKNOWN


def test_a_package_that_is_no_member_is_not_imported_by_its_name() -> None:
    files = {
        "examples/express/package.json": package("express"),
        "examples/express/index.js": "",
        "a.js": "",
    }
    assert meant(files, "a.js", "express") == OUTSIDE


def test_a_dependency_by_path_is_a_package_of_the_repository() -> None:
    files = {
        "server/package.json": package("server", '"dependencies": {"shared": "file:../shared"}'),
        "server/a.js": "",
        "shared/package.json": package("shared"),
        "shared/index.js": "",
    }
    assert meant(files, "server/a.js", "shared") == "shared/index.js"


@pytest.mark.parametrize(
    ("tool", "files"),
    [
        ("pnpm", {"pnpm-workspace.yaml": "packages: ['packages/**', '!**/old']"}),
        ("npm", {"package.json": package("root", '"workspaces": ["packages/{one,two}"]')}),
        ("npm", {"package.json": package("root", '"workspaces": {"packages": ["packages/*"]}')}),
        ("yarn", {"package.json": package("r", '"workspaces": ["packages/*"]'), "yarn.lock": ""}),
        ("lerna", {"lerna.json": "{}"}),
        ("turborepo", {"turbo.json": "{}", "pnpm-workspace.yaml": "packages: ['packages/*']"}),
        ("nx", {"nx.json": "{}", "package.json": package("r", '"workspaces": ["packages/*"]')}),
    ],
)
def test_packages_are_listed_with_the_tool(tool: str, files: dict[str, str]) -> None:
    members = {f"packages/{name}/package.json": package(f"@x/{name}") for name in ("one", "two")}
    found = packages(world(files | members))
    named = {(each.name, each.root, each.tool) for each in found}
    assert {("@x/one", "packages/one", tool), ("@x/two", "packages/two", tool)} <= named


def test_projects_without_a_package_are_listed_in_an_nx_workspace() -> None:
    files = {"nx.json": "{}", "libs/ui/project.json": '{"name": "ui"}', "a.ts": ""}
    assert [(each.name, each.root, each.tool) for each in packages(world(files))] == [
        ("ui", "libs/ui", "nx")
    ]


def test_installed_packages_are_not_the_repositorys() -> None:
    files = {"node_modules/x/package.json": package("x"), "package.json": package("me")}
    assert [each.name for each in packages(world(files))] == ["me"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"workspaces": 3, "exports": [1], "imports": 2}'])
def test_broken_manifests_say_nothing(text: str) -> None:
    files = {"package.json": text, "tsconfig.json": text, "pnpm-workspace.yaml": "a: [", "a.ts": ""}
    assert meant(files, "a.ts", "x") == OUTSIDE
    assert meant(files, "a.ts", "#x") == UNKNOWN
    assert list(packages(world(files))) == []


def test_both_languages_know_the_manifests() -> None:
    assert all("package.json" in each.manifests for each in LANGUAGES)
