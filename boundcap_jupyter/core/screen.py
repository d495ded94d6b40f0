"""What a terminal would leave on its lines: the rows of a stream.

| input                     | effect                                                                             |
|---------------------------|------------------------------------------------------------------------------------|
| text, TAB                 | written over what is there, a column a code point; nothing wraps                   |
| NUL                       | shown as U+2400                                                                    |
| newline                   | to the first column of the next row, which is made if there is none                |
| CR                        | to column 0; erases nothing                                                        |
| BS                        | one column back                                                                    |
| ESC[nA, ESC[nB            | n rows up, within the last 64 rows; n rows down, makes no rows                     |
| ESC[nF, ESC[nE, ESC M     | the same, and to column 0; one row up                                              |
| ESC[nC, ESC[nD, ESC[nG    | right, left, to column n; right ends at column 1,000 or at the end of a longer row |
| ESC[K, ESC[1K, ESC[2K     | erase to the right, to the left, the row                                           |
| ESC[J                     | erase to the right, and all rows below                                             |
| SGR, OSC 8 to http(s)     | the pen of what is written next; a link ends with its line                         |
| everything else           | removed                                                                            |

A row keeps its last 65,536 columns (its first, when the beginning of the stream is kept). A row wider than 2,048
columns can not be left upwards, and leaving it downwards puts it and all above it out of the cursor's reach. All of
these are measured in columns, however the text came in: any chunking gives the same rows. Rows out of reach are frozen.
"""

from __future__ import annotations

import re
from itertools import islice

from boundcap_jupyter.core.charset import UTF_8, Charset
from boundcap_jupyter.core.escape import TOKEN, is_open
from boundcap_jupyter.core.row import PLAIN_PEN, Pen, Row
from boundcap_jupyter.core.sgr import Style, apply_sgr
from boundcap_jupyter.core.text import MAX_LINK, safe_link

#: Rows that the cursor reaches, the one it is on included: more than any progress display has.
REACH = 64
#: Columns. A wider row is no part of a display that is redrawn, so the cursor need not return to it.
WIDE = 2048
#: Columns. What is kept of one row at least.
MAX_WIDTH = 65_536
#: Columns that the cursor may be moved to in a shorter row.
MAX_COLUMN = 1000

#: Bytes that only ever write: all but controls. TAB and newline are handled where lines are split.
_WRITING = bytes(sorted({*range(0x20, 0x7F), *range(0x80, 0x100), 0x09, 0x0A}))
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_COUNT = re.compile(r"([0-9]*)(?:;[0-9;]*)?")
_SGR = re.compile(r"[0-9;:]*")


class Screen:
    """Rows of a stream that is fed in any chunks.

    `rows[0]` has the id `base`; ids increase by one a row and never come back. `frozen` rows at the start of `rows`
    will not change any more. `lead` is the style in which the row before `rows[0]` ended. `origin` and `line` are the
    raw bytes and newlines of the stream before what `feed` gets next.

    Costs one look at each byte of plain text; about a microsecond for each control in other text.
    """

    def __init__(
        self,
        *,
        charset: Charset = UTF_8,
        max_width: int = MAX_WIDTH,
        max_link: int = MAX_LINK,
        keep_start: bool = False,
    ) -> None:
        self.charset = charset
        self._max_width = max_width
        self._max_link = max_link
        self._keep_start = keep_start
        self._decoder = charset.decoder()
        self.restart(base=0, origin=0, line=0, style=PLAIN_PEN.style)

    def restart(self, *, base: int, origin: int, line: int, style: Style) -> None:
        """Begin anew with an empty row at a point of the stream that follows a newline."""
        self._decoder.reset()
        self.base = base
        self.origin = origin
        self.line = line
        self.lead = style
        self.rows = [Row(origin, line, end=style)]
        self.frozen = 0
        self._row = 0
        self._column = 0
        self._pen = Pen(style)
        self._held = ""

    @property
    def style(self) -> Style:
        return self._pen.style

    @property
    def held(self) -> str:
        """The escape sequence that the end of the input left open."""
        return self._held

    @property
    def undecoded(self) -> int:
        """Bytes of a character that the end of the input left open."""
        return len(self._decoder.getstate()[0])

    def feed(self, data: bytes) -> None:
        """Interpret the next bytes of the stream."""
        if self._is_plain(data):
            self._feed_plain(data)
            return
        begin = 0
        while (end := data.find(b"\n", begin)) >= 0:
            # With its newline, which completes whatever character was open.
            self._interpret(self._decoder.decode(data[begin : end + 1]).removesuffix("\n"), ended=True)
            self.origin += end + 1 - begin
            self._newline()
            begin = end + 1
        self._interpret(self._decoder.decode(data[begin:]), ended=False)
        self.origin += len(data) - begin

    def finish(self) -> None:
        """The stream is over: a character left open becomes U+FFFD, an open escape sequence vanishes."""
        self._interpret(self._decoder.decode(b"", final=True), ended=True)
        self._held = ""

    def settle(self) -> None:
        """Let the last row end in the present style if the cursor is on it: no newline has said so yet."""
        if self._row == len(self.rows) - 1:
            self.rows[-1].end = self._pen.style

    def drop_rows(self, count: int) -> None:
        """Forget the first `count` rows, which must be frozen."""
        if count:
            self.lead = self.rows[count - 1].end
            del self.rows[:count]
            self.base += count
            self.frozen -= count
            self._row -= count

    # --- plain text, many lines at once

    def _is_plain(self, data: bytes) -> bool:
        """True if the cursor stands at the end of everything and `data` only writes."""
        row = self.rows[-1]
        return (
            self._row == len(self.rows) - 1
            and self._column == row.size
            and self._pen == PLAIN_PEN
            and not self._held
            and not data.translate(None, _WRITING)
            and (data.isascii() if not self.charset.is_utf_8 else not (b"\xc2" in data and _C1.search(data)))
            # A character left open might be a C1 control, which the search above would not see whole.
            and not self.undecoded
        )

    def _feed_plain(self, data: bytes) -> None:
        texts = self._decoder.decode(data).split("\n")
        self._write(texts[0])
        if len(texts) == 1:
            self.origin += len(data)
            return
        # Offsets are of raw bytes: the same as characters in ASCII, and found line by line in anything else.
        lengths = map(len, texts if data.isascii() else data.split(b"\n"))
        self.origin += next(lengths) + 1
        self.rows[-1].end = self._pen.style
        widest = self.rows[-1].size
        append = self.rows.append
        for text, length in zip(islice(texts, 1, None), lengths, strict=True):
            self.line += 1
            append(Row(self.origin, self.line, text))
            self.origin += length + 1
        self.origin -= 1
        self._row = len(self.rows) - 1
        self._column = self.rows[-1].size
        self._fit(self.rows[-1])
        if max(widest, *map(len, texts)) > WIDE:
            self._freeze_wide(len(self.rows) - len(texts))
        self.frozen = max(self.frozen, len(self.rows) - REACH)

    def _freeze_wide(self, first: int) -> None:
        for index in range(len(self.rows) - 2, first - 1, -1):
            row = self.rows[index]
            self._fit(row)
            if row.size > WIDE:
                self.frozen = max(self.frozen, index + 1)

    def _fit(self, row: Row) -> None:
        """Cut a row that has grown too wide; the cursor's column moves with the columns of its own row."""
        excess = row.size - self._max_width
        if excess <= 0:
            return
        if self._keep_start:
            row.erase_right(self._max_width)
        else:
            row.drop_front(excess)
            if row is self.rows[self._row]:
                self._column = max(0, self._column - excess)

    # --- everything else, line by line

    def _interpret(self, text: str, *, ended: bool) -> None:
        """Write and obey the text of one line. `ended` says that nothing more of the line follows."""
        if self._held:
            text = self._held + text
            self._held = ""
        position = 0
        for match in TOKEN.finditer(text):
            begin = match.start()
            if begin > position:
                self._write(text[position:begin])
            if not ended and is_open(match):
                self._held = text[begin:]
                return
            position = match.end()
            self._obey(match)
        if position < len(text):
            self._write(text[position:])

    def _obey(self, match: re.Match[str]) -> None:
        control = match[0][0]
        if control == "\r":
            self._column = 0
        elif control == "\b":
            self._column = max(0, self._column - 1)
        elif control == "\0":
            self._write("\u2400")
        elif match[0] == "\x1bM":
            self._move_row("A", 1)
        elif final := match["csi_final"]:
            self._control_sequence(match["csi"], match["intermediate"], final)
        elif match["string"] and match["string_end"] in ("\x07", "\x1b\\"):
            self._operating_system_command(match["string"])

    def _control_sequence(self, parameters: str, intermediate: str, final: str) -> None:
        if intermediate:
            return
        if final == "m":
            if _SGR.fullmatch(parameters):
                self._pen = Pen(apply_sgr(self._pen.style, parameters), self._pen.link)
        elif final in "ABCDEFGJK" and (count := _COUNT.fullmatch(parameters)):
            value = int(count[1] or 0)
            if final == "K":
                self._erase(value)
            elif final == "J":
                if value == 0:
                    self._erase_below()
            elif final in "EF":
                self._move_row("B" if final == "E" else "A", max(1, value))
                self._column = 0
            elif final in "AB":
                self._move_row(final, max(1, value))
            else:
                self._move_column(final, max(1, value))

    def _operating_system_command(self, string: str) -> None:
        # `] 8 ; parameters ; address`, the hyperlinks that terminals agree on.
        if string.startswith("]8;"):
            address = safe_link(string[3:].partition(";")[2])
            self._pen = Pen(self._pen.style, address if len(address) <= self._max_link else "")

    def _write(self, text: str) -> None:
        row = self.rows[self._row]
        column = self._column
        self._column += len(text)
        if not self._keep_start:
            row.write(column, text, self._pen)
            self._fit(row)
        elif column < self._max_width:
            row.write(column, text[: self._max_width - column], self._pen)

    def _newline(self) -> None:
        row = self.rows[self._row]
        row.end = self._pen.style
        self._pen = Pen(self._pen.style)
        self.line += 1
        if row.size > WIDE:
            self.frozen = max(self.frozen, self._row + 1)
        self._row += 1
        self._column = 0
        if self._row == len(self.rows):
            self.rows.append(Row(self.origin, self.line))
            self.frozen = max(self.frozen, len(self.rows) - REACH)

    def _erase(self, what: int) -> None:
        row = self.rows[self._row]
        if what == 0:
            row.erase_right(self._column)
        elif what == 1:
            row.erase_left(self._column)
        elif what == 2:
            row.clear()

    def _erase_below(self) -> None:
        self.rows[self._row].erase_right(self._column)
        for row in islice(self.rows, self._row + 1, None):
            row.clear()

    def _move_row(self, final: str, count: int) -> None:
        row = self.rows[self._row]
        if final == "A":
            self.settle()
            if row.size <= WIDE:
                self._row = max(self.frozen, self._row - count)
        else:
            target = min(len(self.rows) - 1, self._row + count)
            if target > self._row and row.size > WIDE:
                self.frozen = max(self.frozen, self._row + 1)
            self._row = target

    def _move_column(self, final: str, count: int) -> None:
        reach = max(MAX_COLUMN, self.rows[self._row].size)
        if final == "D":
            self._column = max(0, self._column - count)
        elif final == "G":
            self._column = min(count - 1, reach)
        else:
            self._column = max(self._column, min(self._column + count, reach))
