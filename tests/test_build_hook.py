"""What the build hook decides, on small trees with a fake Node.

CI makes the real builds: with Node, without, and from an sdist.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("hatchling", reason="the build hook runs inside hatchling")

HOOK = Path(__file__).parent.parent / "js" / "hatch_build.py"
ESBUILD = "0.28.2"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("boundcap_build_hook", HOOK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


hook: Any = load()


class FakeNode:
    """Notes what it is told; its bundle is the stamp alone, as esbuild writes it at the head of the real one."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Path]] = []
        self.seen: set[str] = set()

    def run_npm(self, arguments: list[str], *, cwd: Path) -> None:
        self.calls.append((f"npm {' '.join(arguments)}", cwd))
        self.seen = {path.relative_to(cwd).as_posix() for path in cwd.rglob("*")}
        (cwd / "node_modules").mkdir()

    def run(self, arguments: list[str], *, cwd: Path) -> None:
        script, _, outdir, _, stamp = arguments
        self.calls.append((f"node {script}", cwd))
        static = Path(outdir)
        static.mkdir(parents=True, exist_ok=True)
        (static / "panel.js").write_text(f"/* {stamp} */\nlet a=1;\n", "utf-8")
        (static / "panel.css").write_text("a{}\n", "utf-8")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    js = tmp_path / "js"
    (js / "src" / "core").mkdir(parents=True)
    (js / "build.mjs").write_text("build()\n")
    (js / "src" / "index.ts").write_text("export default 1\n")
    (js / "src" / "core" / "fold.ts").write_text("fold\n")
    (js / "src" / "core" / "fold.test.ts").write_text("test\n")
    lock = {"packages": {"node_modules/esbuild": {"version": ESBUILD}}}
    (js / "package-lock.json").write_text(json.dumps(lock))
    return tmp_path


def build(tree: Path) -> FakeNode:
    node = FakeNode()
    hook.Panel(tree).build(node)
    return node


def install_esbuild(tree: Path, version: str) -> None:
    place = tree / "js" / "node_modules" / "esbuild"
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"version": version}))


def files(tree: Path) -> set[str]:
    return {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}


def make_hook(tree: Path) -> Any:
    return hook.PanelBuildHook(str(tree), {}, None, None, str(tree), "wheel")


# What is fresh


def test_a_clean_checkout_is_not_fresh(tree: Path) -> None:
    assert not hook.Panel(tree).fresh


def test_what_was_built_is_fresh(tree: Path) -> None:
    build(tree)
    assert hook.Panel(tree).fresh


@pytest.mark.parametrize("name", ["build.mjs", "package-lock.json", "src/index.ts", "src/core/fold.ts"])
def test_a_changed_source_makes_it_stale_whatever_its_time(tree: Path, name: str) -> None:
    build(tree)
    source = tree / "js" / name
    before = source.stat()
    source.write_text(source.read_text() + " ")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not hook.Panel(tree).fresh


def test_a_new_a_renamed_and_a_removed_source_make_it_stale(tree: Path) -> None:
    stamps = {hook.Panel(tree).stamp()}
    source = tree / "js" / "src" / "core" / "fold.ts"
    (tree / "js" / "src" / "new.ts").write_text("")
    stamps.add(hook.Panel(tree).stamp())
    source.rename(source.with_name("bend.ts"))
    stamps.add(hook.Panel(tree).stamp())
    source.with_name("bend.ts").unlink()
    stamps.add(hook.Panel(tree).stamp())
    assert len(stamps) == 4


def test_a_newer_time_and_a_changed_test_do_not_make_it_stale(tree: Path) -> None:
    build(tree)
    (tree / "js" / "src" / "index.ts").touch()
    (tree / "js" / "src" / "core" / "fold.test.ts").write_text("another\n")
    assert hook.Panel(tree).fresh


@pytest.mark.parametrize("name", ["panel.js", "panel.css"])
def test_a_missing_static_file_makes_it_stale(tree: Path, name: str) -> None:
    build(tree)
    (tree / "boundcap_jupyter" / "static" / name).unlink()
    assert not hook.Panel(tree).fresh


def test_the_static_files_of_an_sdist_are_taken_as_they_are(tree: Path) -> None:
    build(tree)
    (tree / "PKG-INFO").write_text("")
    (tree / "js" / "src" / "index.ts").write_text("patched by a distributor\n")
    assert hook.Panel(tree).fresh


def test_an_sdist_without_static_files_is_not_fresh(tree: Path) -> None:
    (tree / "PKG-INFO").write_text("")
    assert not hook.Panel(tree).fresh


# How it is built


def test_without_esbuild_it_is_installed_in_a_copy_and_the_checkout_gains_the_static_files_alone(tree: Path) -> None:
    before = files(tree)
    node = build(tree)
    commands, places = zip(*node.calls, strict=True)
    assert commands[0].startswith("npm ci --omit=dev")
    assert commands[1] == "node build.mjs"
    assert places[0] == places[1]
    assert not places[0].is_relative_to(tree)
    assert not places[0].exists()
    assert files(tree) - before == {"boundcap_jupyter/static/panel.js", "boundcap_jupyter/static/panel.css"}


def test_a_developers_esbuild_is_used_where_it_is(tree: Path) -> None:
    install_esbuild(tree, ESBUILD)
    assert build(tree).calls == [("node build.mjs", tree / "js")]


def test_another_esbuild_than_the_locked_one_is_left_alone(tree: Path) -> None:
    install_esbuild(tree, "0.1.0")
    before = files(tree / "js")
    node = build(tree)
    assert node.calls[0][0].startswith("npm ci")
    assert not any(name.startswith("node_modules") for name in node.seen)
    assert files(tree / "js") == before


# Where Node comes from


def put_on_path(monkeypatch: pytest.MonkeyPatch, place: Path, *, node: str | None, npm: bool) -> None:
    place.mkdir()
    scripts = {"node": f"#!/bin/sh\necho {node}\n" if node else "", "npm": "#!/bin/sh\n" if npm else ""}
    for name, script in scripts.items():
        if script:
            (place / name).write_text(script)
            (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(place))


@pytest.mark.parametrize(
    ("node", "npm", "needed"),
    [
        ("v20.20.2", True, False),
        ("v18.0.0", True, False),
        ("v16.20.0", True, True),
        ("v20.20.2", False, True),
        ("nonsense", True, True),
        (None, True, True),
        (None, False, True),
    ],
)
def test_node_comes_from_pypi_only_when_the_path_has_none_that_will_do(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, node: str | None, npm: bool, needed: bool
) -> None:
    put_on_path(monkeypatch, tmp_path / "bin", node=node, npm=npm)
    assert make_hook(tree).dependencies() == ([hook.NODE_FROM_PYPI] if needed else [])


def test_fresh_files_need_no_node_and_are_not_built_again(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tree)
    bundle = tree / "boundcap_jupyter" / "static" / "panel.js"
    before = bundle.stat().st_mtime_ns
    put_on_path(monkeypatch, tmp_path / "bin", node=None, npm=False)
    assert make_hook(tree).dependencies() == []
    make_hook(tree).initialize("standard", {})
    assert bundle.stat().st_mtime_ns == before


def test_without_any_node_the_error_says_what_is_needed(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_path(monkeypatch, tmp_path / "bin", node=None, npm=False)
    monkeypatch.setattr(hook, "find_spec", lambda _name: None)
    with pytest.raises(hook.BuildError, match="needs Node 18 or newer with npm on the PATH"):
        make_hook(tree).initialize("standard", {})


def test_a_failing_npm_is_quoted(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(monkeypatch, tmp_path / "bin", node="v20.20.2", npm=True)
    (tmp_path / "bin" / "npm").write_text("#!/bin/sh\necho 'npm error network is down' >&2\nexit 7\n")
    with pytest.raises(
        hook.BuildError, match=r"(?s)npm ci .* failed with exit code 7 and said:\nnpm error network is down"
    ):
        make_hook(tree).initialize("standard", {})
    assert not (tree / "boundcap_jupyter").exists()
