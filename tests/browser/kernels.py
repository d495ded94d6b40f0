"""What a busy kernel must hear, with other versions of ipykernel: how a message reaches it differs in each.

python -m tests.browser.kernels                 all of VERSIONS
python -m tests.browser.kernels 6.31 -- -k all  one of them, and arguments for pytest

Each version has an environment of its own below .artifacts/kernels, with the package installed from this tree; it is
kept for the next time. The server stays in the environment that runs this: only kernels come from the other one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".artifacts" / "kernels"

#: 6.31 has no subshells, 7.3 hears comm messages on them, 7.4 sends those back to the shell that published last.
VERSIONS = ("6.31", "7.3", "7.4")

#: The environment variable that names the Python of the kernels to tests/browser/conftest.py.
KERNEL_PYTHON = "BOUNDCAP_TEST_KERNEL_PYTHON"

#: What depends on the way from the page to the kernel.
TESTS = ("tests/browser/test_stop.py", "tests/browser/test_latecomers.py")


def environment(version: str) -> Path:
    """The Python of an environment with this version of ipykernel. Takes half a minute the first time, else seconds."""
    directory = ENVIRONMENTS / version
    python = directory / "bin" / "python"
    if not python.exists():
        venv.create(directory, with_pip=True, clear=True)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "-e", str(ROOT), f"ipykernel=={version}.*"], check=True, cwd=ROOT
    )
    return python


def main(arguments: list[str]) -> int:
    """Test the versions that are named, or all; the worst exit code of pytest is the answer."""
    versions, options = arguments, []
    if "--" in arguments:
        split = arguments.index("--")
        versions, options = arguments[:split], arguments[split + 1 :]
    worst = 0
    for version in versions or VERSIONS:
        started = time.monotonic()
        variables = {**os.environ, KERNEL_PYTHON: str(environment(version))}
        print(f"=== ipykernel {version}: environment ready after {time.monotonic() - started:.0f} s", flush=True)
        # -rP: tests print what they measured.
        command = [sys.executable, "-m", "pytest", "-q", "-rP", *TESTS, *options]
        worst = max(worst, subprocess.run(command, cwd=ROOT, env=variables).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
