"""Other people's packages, in an environment of their own that the benchmarks use if it is there.

    python -m tests.benchmarks.peers [--peers DIR]

makes it: a virtual environment and a node_modules, some 500 MB, by default in the user's cache directory
($XDG_CACHE_HOME counts). Remove the directory to be rid of it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from tests.frontend import npm

#: What is compared with is one version, so that two tables can be compared.
PYTHON_PACKAGES = {"agentfield": "0.1.144", "subprocess-tee": "0.4.2"}
PI = "@earendil-works/pi-agent-core"
PI_VERSION = "0.87.1"

HOW = "`python -m tests.benchmarks.peers` installs it"


def default_root() -> Path:
    return platformdirs.user_cache_path("boundcap-benchmarks", appauthor=False)


@dataclass(frozen=True)
class Peers:
    root: Path

    def python_with(self, package: str) -> list[str] | None:
        """The interpreter that has the package, None if there is none."""
        python = self.root / "venv" / "bin" / "python"
        name = f"{package.replace('-', '_')}-{PYTHON_PACKAGES[package]}.dist-info"
        there = python.exists() and any(self.root.glob(f"venv/lib/*/site-packages/{name}"))
        return [str(python)] if there else None

    def pi(self) -> list[str] | None:
        """The command before the arguments of pi.mjs, None if it can not run: without Node, say, or off Linux."""
        node_modules = self.root / "npm" / "node_modules"
        if not (node_modules / PI / "package.json").is_file() or not Path("/proc/self/stat").exists():
            return None
        try:
            _, directory = npm()
        except RuntimeError:
            return None
        program = shutil.copy(Path(__file__).with_name("pi.mjs"), node_modules.parent)
        return [str(Path(directory) / "node"), str(program)]

    def make(self) -> None:
        """Install all of them. Raises subprocess.CalledProcessError, and RuntimeError if there is no npm."""
        command, directory = npm()
        venv, prefix = self.root / "venv", self.root / "npm"
        prefix.mkdir(parents=True, exist_ok=True)
        _run([sys.executable, "-m", "venv", str(venv)])
        packages = [f"{name}=={version}" for name, version in PYTHON_PACKAGES.items()]
        _run([str(venv / "bin" / "python"), "-m", "pip", "install", "-q", *packages])
        options = ["--prefix", str(prefix), "--no-audit", "--no-fund", "--ignore-scripts"]
        _run([*command, "install", *options, f"{PI}@{PI_VERSION}"], directory)


def _run(command: Sequence[str], directory: str = "") -> None:
    path = os.pathsep.join(filter(None, [directory, os.environ.get("PATH", os.defpath)]))
    subprocess.run(command, env={**os.environ, "PATH": path}, check=True)


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--peers",
        type=lambda text: Peers(Path(text).absolute()),
        default=Peers(default_root()),
        metavar="DIR",
        help=f"where other packages are (default: {default_root()})",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.benchmarks.peers", description="Install what to compare with.")
    add_option(parser)
    chosen: Peers = parser.parse_args().peers
    chosen.make()
    print(f"installed in {chosen.root}")
