"""The house rules that no general tool knows: import contracts are `lint-imports`, the rest is here."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "bot").rglob("*.py"))

THIRD_PARTY = {
    "click": {"cli"},
    "yaml": {"documents"},
    "tree_sitter": {"documents"},
    "tree_sitter_bash": {"documents"},
    "jsonschema": {"documents", "plan", "engine"},
    "cel_expr_python": {"engine"},
    "pydantic_core": {"catalogs"},
    "httpx": {"catalogs", "github", "server", "smoke"},
    "github": {"github"},
    "requests": {"github"},
    "urllib3": {"github"},
    "dbos": {"server"},
    "starlette": {"server"},
    "uvicorn": {"server"},
    "prometheus_client": {"server"},
    "psycopg": {"server"},
    "sqlalchemy": {"server"},
    "torch": {"smoke"},
}
"""Which layers may import a package: each stays behind one door."""

BUILDER = {"httpx", "pydantic_core"}
"""Packages that are there where a catalog is built (beside the framework that it reads), not where botlint runs."""

RUNNER = {"torch"}
"""Packages that come with the image of an engine, in which a smoke run looks at the machine."""

REVIEWER = {
    "httpx",
    "github",
    "requests",
    "urllib3",
    "dbos",
    "starlette",
    "uvicorn",
    "prometheus_client",
    "psycopg",
    "sqlalchemy",
}
"""Packages of the extras `review` and `app`: `botlint check` and `plan` work without them."""

AT_USE = {"yaml", "tree_sitter", "tree_sitter_bash", "jsonschema"} | REVIEWER | RUNNER
"""Packages that `botlint.cli` and its commands must not import while they are being loaded."""


def imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno


def layer(path: Path) -> str:
    return path.relative_to(ROOT / "bot").parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_of_a_module(path: Path) -> None:
    for name, line in imports(path):
        root = name.split(".")[0]
        place = f"{path.relative_to(ROOT)}:{line}"
        assert not name.startswith("."), f"{place}: write the absolute import"
        assert root not in {"bot", "rules", "schemas", "tests"}, f"{place}: the package is called botlint"
        if root not in sys.stdlib_module_names and root != "botlint":
            assert layer(path) in THIRD_PARTY.get(root, ()), f"{place}: {root} is not used in {layer(path)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_is_and_defers_annotations(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path}: no docstring"
    if len(tree.body) > 1:
        assert ("__future__", 3) in {(name, 3) for name, _ in imports(path)}, f"{path}: no `annotations` import"


def test_dependencies_are_those_that_are_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    modules = {"pyyaml": "yaml"}
    declared = {
        modules.get(name, name.replace("-", "_"))
        for name in (requirement.split(">")[0].split("<")[0].lower() for requirement in project["dependencies"])
    }
    used = {name.split(".")[0] for path in MODULES for name, _ in imports(path)} - set(sys.stdlib_module_names)
    assert used - {"botlint"} - BUILDER - REVIEWER - RUNNER <= declared


def test_loading_the_command_line_imports_no_reader() -> None:
    listing = subprocess.run(
        [sys.executable, "-c", "import sys, botlint.cli; print(*sys.modules, sep='\\n')"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not AT_USE & {name.split(".")[0] for name in listing.stdout.split()}
