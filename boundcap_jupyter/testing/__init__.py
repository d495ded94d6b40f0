"""For tests of notebooks that use boundcap_jupyter.

`nbval_sanitize.cfg` beside this file names what may differ between two runs that print the same:

    pytest --nbval --nbval-sanitize-with=PATH notebook.ipynb        where PATH is str(nbval_sanitizer())
"""

from __future__ import annotations

from pathlib import Path


def nbval_sanitizer() -> Path:
    """The file for nbval's option --nbval-sanitize-with."""
    return Path(__file__).with_name("nbval_sanitize.cfg")
