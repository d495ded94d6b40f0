"""The tests in js/, as one test here: one command runs all."""

import re

from tests.frontend import run_script


def test_the_tests_of_the_panel_pass():
    done = run_script("test")
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    assert done.returncode == 0, said[-8000:]
    passed = re.search(r"Tests\s+(\d+) passed", said)
    assert passed, said[-8000:]
    # Fewer than there are files would mean that some were not found.
    assert int(passed[1]) > 100
