"""The bounded state of one output stream.

`feed` takes bytes and returns those that must be spilled now; `view` says what is shown; `finish` ends the stream.
Nothing else happens here: no file, no clock, no thread.
"""

from __future__ import annotations

from typing import Literal

from boundcap_jupyter.core.binary import Sample
from boundcap_jupyter.core.charset import checked_charset
from boundcap_jupyter.core.hold import Beginning, End
from boundcap_jupyter.core.limits import Bound, OutputLimits
from boundcap_jupyter.core.screen import MAX_WIDTH, Screen
from boundcap_jupyter.core.totals import Totals
from boundcap_jupyter.core.view import OutputMetadata, OutputView, Truncation
from boundcap_jupyter.core.window import Place, Window


class OutputCapture:
    """Holds the head, the tail or both ends of a stream within `limits`, and totals of all of it.

    `encoding` names the charset of the text. Raises ValueError for one that is unknown or in which a newline is not one
    byte.

    Memory, about: a buffer of 384 KiB and the piece that is fed, the rows of two views, and a row of at most 65,536
    columns or `max_bytes`; with both ends a second time.
    """

    def __init__(self, limits: OutputLimits | None = None, *, encoding: str = "utf-8") -> None:
        self.limits = limits or OutputLimits()
        self.totals = Totals()
        self._charset = checked_charset(encoding)
        whole = Bound(self.limits.max_bytes, self.limits.max_lines)
        # A quarter for the head, rounded up: the first error; the rest for the tail: the result, and what led to it. Of
        # a single line the tail is what is wanted.
        quarter = Bound(-(-whole.max_bytes // 4), min(-(-whole.max_lines // 4), whole.max_lines - 1))
        self._rest = Bound(whole.max_bytes - quarter.max_bytes, whole.max_lines - quarter.max_lines)
        retain = self.limits.retain
        self._beginning: Beginning | None = None
        self._end: End | None = None
        if retain != "tail":
            bound = quarter if retain == "both" else whole
            self._beginning = Beginning(self._new_screen(keep_start=True), bound)
        if retain != "head":
            self._end = End(self._new_screen(keep_start=False), whole, self.totals)
        self._sample = Sample(of_end=retain != "head")
        self._prefix: bytearray | None = bytearray()
        self._finished = False

    @property
    def overflowed(self) -> bool:
        """True once the raw totals have passed a limit, or a finished view does not show all: a spill is needed."""
        return self._prefix is None

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes of the stream; return those that belong into the spill now.

        Nothing does until the raw totals first pass a limit; then everything so far does, and from then on all that
        comes. Raises ValueError for what is not bytes or comes after `finish`. Costs a scan for newlines.
        """
        if not isinstance(data, bytes):
            raise ValueError(f"data must be bytes, not {type(data).__name__}")
        if self._finished:
            raise ValueError(f"data came after the end of the stream: {len(data)} bytes")
        self.totals.add(data)
        self._sample.add(data)
        for holder in (self._beginning, self._end):
            if holder is not None:
                holder.feed(data)
        return self._overflow(data)

    def finish(self) -> bytes:
        """The stream is over. Returns what belongs into the spill if the view, against expectation, does not show all.

        That is so when few bytes take much room: NUL and invalid bytes are shown by characters of three.
        """
        if self._finished:
            return b""
        for holder in (self._beginning, self._end):
            if holder is not None:
                holder.finish()
        self._finished = True
        prefix = self._prefix
        if prefix is None or not self.view().metadata.truncation.truncated:
            return b""
        self._prefix = None
        return bytes(prefix)

    def view(self) -> OutputView:
        """What is shown now. Costs the interpretation of what came since the last view, at most one buffer."""
        if self._sample.is_binary(self._charset):
            return self._binary_view()
        head, tail = self._windows()
        shown = tail or head
        assert shown is not None
        both = [window for window in (head, tail) if window is not None]
        omitted = self._omitted(head, tail)
        truncation = self._truncation(
            # Two ends can hold all between them though the whole was too long: each begins without its colours.
            cut_by=shown.cut_by if omitted.byte_count else None,
            lines=sum(window.lines for window in both),
            size=sum(window.size for window in both),
            last_line_partial=shown.partial == "last",
            first_line_exceeds_limit=both[0].partial == "beginning",
        )
        metadata = OutputMetadata(
            truncation=truncation,
            last_line_bytes=self.totals.last_line_bytes,
            omitted_bytes=omitted.byte_count,
            omitted_lines=omitted.newlines,
            first_line_partial=shown.partial == "first",
            lead_sgr=shown.lead_sgr,
        )
        head_text = head.text if head is not None and tail is not None else ""
        return OutputView(shown.text, metadata, head_text, rows=shown.rows)

    # --- what is shown

    def _new_screen(self, *, keep_start: bool) -> Screen:
        max_bytes = self.limits.max_bytes
        return Screen(
            charset=self._charset,
            # One more than a view can show, so that a row that was cut never looks complete.
            max_width=max(MAX_WIDTH, max_bytes + 1),
            # A link must leave room for its text in any part of the view.
            max_link=max_bytes // 8,
            keep_start=keep_start,
        )

    def _windows(self) -> tuple[Window | None, Window | None]:
        """(beginning, end), of which the first is None where the end alone shows all, or is all that is wanted."""
        if self._end is None:
            assert self._beginning is not None
            return self._beginning.window(), None
        tail = self._end.window()
        if self._beginning is None or tail.cut_by is None:
            return None, tail
        return self._beginning.window(), self._end.window(self._rest)

    def _omitted(self, head: Window | None, tail: Window | None) -> Place:
        """Raw bytes and newlines that are not held: before the tail, after the head, between the two."""
        end = Place(self.totals.byte_count, self.totals.newlines)
        start = Place(0, 0)
        if head is not None:
            start = head.ends if head.cut_by is not None else end
        if tail is not None:
            end = tail.begins if tail.cut_by is not None else start
        # Of one line that is cut on both sides, its blanks that were never printed may count on both.
        least = 1 if head is not None and tail is not None and (head.partial or tail.partial) else 0
        return Place(max(least, end.byte_count - start.byte_count), max(0, end.newlines - start.newlines))

    def _truncation(
        self,
        *,
        cut_by: Literal["lines", "bytes"] | None,
        lines: int,
        size: int,
        last_line_partial: bool = False,
        first_line_exceeds_limit: bool = False,
    ) -> Truncation:
        return Truncation(
            truncated=cut_by is not None,
            truncated_by=cut_by,
            total_lines=self.totals.lines,
            total_bytes=self.totals.byte_count,
            output_lines=lines,
            output_bytes=size,
            last_line_partial=last_line_partial,
            first_line_exceeds_limit=first_line_exceeds_limit,
            max_lines=self.limits.max_lines,
            max_bytes=self.limits.max_bytes,
        )

    def _binary_view(self) -> OutputView:
        """A dump of a few bytes of the held end in place of a text that would say nothing."""
        text, shown = self._sample.dump(self.limits.max_bytes, self.limits.max_lines)
        omitted = Place(self.totals.byte_count - len(shown), self.totals.newlines - shown.count(b"\n"))
        truncation = self._truncation(
            cut_by="bytes" if omitted.byte_count else None, lines=text.count("\n"), size=len(text)
        )
        metadata = OutputMetadata(
            truncation=truncation,
            last_line_bytes=self.totals.last_line_bytes,
            omitted_bytes=omitted.byte_count,
            omitted_lines=omitted.newlines,
            binary=True,
        )
        return OutputView(text, metadata)

    # --- the spill

    def _overflow(self, data: bytes) -> bytes:
        if self._prefix is None:
            return data
        if self.totals.byte_count <= self.limits.max_bytes and self.totals.lines <= self.limits.max_lines:
            self._prefix += data
            return b""
        spill = bytes(self._prefix) + data if self._prefix else data
        self._prefix = None
        return spill
