"""Imports go one way: core <- running, core <- show, both <- api <- magics."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "boundcap_jupyter"

#: What the modules of a floor may import of the package, at any place in them.
FLOORS = {
    "core": {"core"},
    "running": {"core", "running"},
    "show": {"core", "show"},
    "testing": {"core", "running", "testing"},
    "options": {"core", "running"},
    "completion": {"options"},
    "history": {"core", "running", "show"},
    "config": {"running"},
    "__main__": {"history", "running", "show"},
    "failures": {"core", "running", "show"},
    "api": {"core", "running", "show"},
    "chunks": {"api", "core", "running", "show"},
    "jobs": {"api", "core", "running", "show"},
    "magics": {"api", "completion", "config", "core", "failures", "history", "jobs", "options", "running", "show"},
}

#: What core and running never import: a worker or a plain script has none of it.
NOTEBOOK = {"IPython", "ipywidgets", "anywidget", "traitlets", "ipykernel", "comm"}
#: What core has no business with: time, threads, files, processes.
WORLD = set("asyncio io os pathlib select shutil signal socket subprocess tempfile threading time".split())

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def floor(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Full names of the imported modules, those within functions included."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports say where from"
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_the_floors_below(path):
    found = imports(path)
    own = {name.split(".")[1] for name in found if name.startswith("boundcap_jupyter.")}
    assert own <= FLOORS[floor(path)]
    top = {name.partition(".")[0] for name in found}
    if floor(path) in ("core", "running"):
        assert not top & NOTEBOOK
    if floor(path) == "core":
        assert not top & WORLD


def test_nobody_keeps_a_drawer_for_odds_and_ends():
    assert not {path.stem for path in MODULES} & {"utils", "util", "helpers", "common", "types", "misc"}
