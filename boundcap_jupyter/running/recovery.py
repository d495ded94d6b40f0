"""The view of a run whose owner died, made anew from its spill: the record may be two seconds behind it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.core.totals import Totals
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.store import open_stored

#: Bytes of each end of the spill that are interpreted; what lies between is only counted. Many views long, and a
#: matter of seconds even where every byte moves the cursor.
END_BYTES = 8 * 1024 * 1024
#: Bytes read at a time, so that an interrupt is felt.
_CHUNK = 1024 * 1024


def recovered_view(path: Path, limits: OutputLimits, encoding: str) -> OutputView:
    """What the run would show had it ended with what its spill holds; totals are those of the file.

    Colours that were set in the middle of a spill of more than `2 * END_BYTES` and hold on to its end are not known.
    Raises OSError if the file can not be read or is none. Costs one pass over it.
    """
    fd = open_stored(path)
    with os.fdopen(fd, "rb", buffering=0) as file:
        return _recovered(file, os.fstat(fd).st_size, OutputCapture(limits, encoding=encoding))


def _recovered(file: BinaryIO, size: int, capture: OutputCapture) -> OutputView:
    totals, middle = Totals(), Totals()
    first_end, last_start = END_BYTES, size - END_BYTES
    position = 0
    while chunk := file.read(_CHUNK):
        totals.add(chunk)
        end = position + len(chunk)
        if last_start <= first_end or end <= first_end or position >= last_start:
            capture.feed(chunk)
        elif position < first_end:
            # Behind a newline: both ends are whole lines.
            cut = chunk.rfind(b"\n") + 1 or len(chunk)
            capture.feed(chunk[:cut])
            middle.add(chunk[cut:])
        elif end <= last_start:
            middle.add(chunk)
        else:
            cut = chunk.find(b"\n") + 1
            middle.add(chunk[:cut])
            capture.feed(chunk[cut:])
        position = end
    capture.finish()
    view = capture.view()
    metadata, facts = view.metadata, view.metadata.truncation
    truncation = replace(facts, total_bytes=totals.byte_count, total_lines=totals.lines)
    return replace(
        view,
        metadata=replace(
            metadata,
            truncation=truncation,
            last_line_bytes=totals.last_line_bytes,
            omitted_bytes=metadata.omitted_bytes + middle.byte_count,
            omitted_lines=metadata.omitted_lines + middle.newlines,
            spill_path=None,
            spill_state="incomplete",
            spill_bytes=totals.byte_count,
        ),
    )
