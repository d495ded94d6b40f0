"""The panel's own JavaScript and CSS, as the build of js/ leaves them in static/."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


class BundleMissingError(RuntimeError):
    """The panel has not been built."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"boundcap_jupyter/static/{name} is missing: the panel is built from js/ when the package is installed "
            "(`pip install .`), or by `npm ci && npm run build` in js/"
        )


@cache
def read_bundle(name: str) -> str:
    """The text of a file in static/, read once a process. Raises BundleMissingError if it is not there."""
    try:
        return (files("boundcap_jupyter") / "static" / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise BundleMissingError(name) from error
