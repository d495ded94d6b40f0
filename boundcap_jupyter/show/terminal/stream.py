"""Writes text to a terminal, or what stands for one, whatever characters it knows."""

from __future__ import annotations

from typing import TextIO


def write(stream: TextIO, text: str) -> None:
    """Write all of it at once, "?" for each character that the charset of the stream has not, and flush.

    The stream itself would raise, by the default of Python, and the run that was to be shown would be lost.
    """
    # None for a stream of text alone, such as io.StringIO.
    if stream.encoding is not None:
        text = text.encode(stream.encoding, "replace").decode(stream.encoding)
    stream.write(text)
    stream.flush()
