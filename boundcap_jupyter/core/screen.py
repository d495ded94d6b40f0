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
from collections import Counter
from itertools import islice

from boundcap_jupyter.core.charset import UTF_8, Charset
from boundcap_jupyter.core.escape import ESCAPE, is_open
from boundcap_jupyter.core.overdraw import last_frames, last_writes
from boundcap_jupyter.core.row import PLAIN_PEN, Pen, Row
from boundcap_jupyter.core.sgr import PLAIN, SGR, Style, apply_sgr, style_after
from boundcap_jupyter.core.text import MAX_LINK, safe_link

#: Rows that the cursor reaches, the one it is on included: more than any progress display has.
REACH = 64
#: Columns. A wider row is no part of a display that is redrawn, so the cursor need not return to it.
WIDE = 2048
#: Columns. What is kept of one row at least.
MAX_WIDTH = 65_536
#: Bytes. A display that is redrawn climbs back more often.
PROBE = 4096
#: Columns that the cursor may be moved to in a shorter row.
MAX_COLUMN = 1000

#: Bytes that only ever write: all but controls. TAB and newline are handled where lines are split.
_WRITING = bytes(sorted({*range(0x20, 0x7F), *range(0x80, 0x100), 0x09, 0x0A}))
#: A character that the next one is written over, as in a spinner.
_WRITTEN_OVER = re.compile("[^\r\b]\b(?=[^\r\b])")
#: The climb that progress displays use; others are interpreted one by one.
_UP = re.compile(rb"\x1b\[([0-9]{0,3})A")
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
#: Control characters that are removed: all but NUL, BS, TAB, newline, CR and ESC.
_IGNORED = re.compile("[\x01-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]+")
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
        self._begin(base=0, origin=0, line=0, style=PLAIN_PEN.style)

    def fresh(self, *, base: int, origin: int, line: int, style: Style) -> Screen:
        """Another screen with the same settings: an empty row, at a place in the stream that follows a newline."""
        screen = Screen(
            charset=self.charset, max_width=self._max_width, max_link=self._max_link, keep_start=self._keep_start
        )
        screen._begin(base=base, origin=origin, line=line, style=style)
        return screen

    def _begin(self, *, base: int, origin: int, line: int, style: Style) -> None:
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

    def feed(self, data: bytes | bytearray) -> None:
        """Interpret the next bytes of the stream."""
        begin = self._feed_redrawn(data)
        # Where the next escape sequence or CR is; and up to where all was found to be more than plain text.
        special = tried = -1
        while begin < len(data):
            if special < begin:
                special = min(_find(data, b"\x1b", begin), _find(data, b"\r", begin))
            if begin >= tried and self._is_at_end():
                tried = len(data) if special == len(data) else data.rfind(b"\n", begin, special) + 1
                if tried > begin and self._is_plain(stretch := data[begin:tried]):
                    self._feed_plain(stretch)
                    begin = tried
                    continue
            end = data.find(b"\n", begin)
            if end < 0:
                self._interpret(self._decoder.decode(data[begin:]), ended=False)
                self.origin += len(data) - begin
                return
            # With its newline, which completes whatever character was open.
            self._interpret(self._decoder.decode(data[begin : end + 1]).removesuffix("\n"), ended=True)
            self.origin += end + 1 - begin
            self._newline()
            begin = end + 1

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

    def _is_at_end(self) -> bool:
        """True if the cursor stands at the end of everything, with nothing on its mind."""
        return (
            self._row == len(self.rows) - 1
            and self._column == self.rows[-1].size
            and self._pen.style is PLAIN
            and not self._pen.link
            and not self._held
            # A character left open might be a C1 control, which nobody would see whole.
            and not self.undecoded
        )

    def _is_plain(self, data: bytes | bytearray) -> bool:
        """True if `data` only writes."""
        return not data.translate(None, _WRITING) and (
            data.isascii() if not self.charset.is_utf_8 else not (b"\xc2" in data and _C1.search(data))
        )

    def _feed_plain(self, data: bytes | bytearray) -> None:
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

    # --- rows that are written again and again

    def _feed_redrawn(self, data: bytes | bytearray) -> int:
        """Take the front of `data` at once if all it does is to redraw rows that are there. Returns its length or 0."""
        if not _UP.search(data, 0, PROBE):
            return 0
        # What follows may go on.
        length = max(data.rfind(b"\r"), data.rfind(b"\n")) + 1
        climbs = _UP.findall(data, 0, length)
        newlines = data.count(b"\n", 0, length)
        below = len(self.rows) - 1 - self._row
        if newlines > below + sum(count * int(climb or 1) for climb, count in Counter(climbs).items()):
            return 0
        if self._pen.link or any(row.size > WIDE for row in islice(self.rows, self.frozen, None)):
            return 0
        before = self._decoder.getstate()
        writes = last_writes(
            self._held + self._decoder.decode(data[:length]),
            row=self._row - self.frozen,
            column=self._column,
            rows=len(self.rows) - self.frozen,
            max_width=min(WIDE, self._max_width),
        )
        if writes is None:
            self._decoder.setstate(before)
            return 0
        self._held = ""
        for write in writes:
            self._pen = Pen(style_after(self._pen.style, write.colours))
            self._row, self._column = self.frozen + write.row, write.column
            if write.text is None:
                self.rows[self._row].end = self._pen.style
            else:
                self._interpret(write.text, ended=True)
        self.line += newlines
        self.origin += length
        return length

    # --- everything else, line by line

    def _interpret(self, text: str, *, ended: bool) -> None:
        """Write and obey the text of one line. `ended` says that nothing more of the line follows."""
        if self._held:
            text = self._held + text
            self._held = ""
        if text.find("\r") != text.rfind("\r"):
            text = last_frames(text, self._max_width)
        if "\x1b" in text and self._append_coloured(text):
            return
        position = 0
        while (begin := text.find("\x1b", position)) >= 0:
            self._print(text[position:begin])
            match = ESCAPE.match(text, begin)
            assert match is not None
            if not ended and is_open(match):
                self._held = text[begin:]
                return
            position = match.end()
            self._obey(match)
        self._print(text[position:] if position else text)

    def _append_coloured(self, text: str) -> bool:
        """Put text at the end of the row if there are only colours in it. True if it did."""
        row = self.rows[self._row]
        pieces = SGR.split(text)
        texts = "".join(pieces[::2])
        if (
            self._column != row.size
            or self._column + len(texts) > self._max_width
            or 2 * text.count("\x1b") != len(pieces) - 1
            or not texts.isprintable()
        ):
            return False
        spans = []
        pen = self._pen
        for number, piece in enumerate(pieces):
            if number % 2:
                pen = Pen(apply_sgr(pen.style, piece), pen.link)
            elif piece:
                spans.append((piece, pen))
        row.append(spans)
        self._pen = pen
        self._column = row.size
        return True

    def _print(self, text: str) -> None:
        """Write text that holds no escape sequence, and obey the control characters in it."""
        if text.isprintable():
            if text:
                self._write(text)
            return
        text = _IGNORED.sub("", text).replace("\0", "\u2400")
        if "\b" in text:
            text = _WRITTEN_OVER.sub("", text)
        for number, frame in enumerate(text.split("\r")):
            if number:
                self._column = 0
            for back, piece in enumerate(frame.split("\b")):
                if back:
                    self._column = max(0, self._column - 1)
                if piece:
                    self._write(piece)

    def _obey(self, match: re.Match[str]) -> None:
        if match[0] == "\x1bM":
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
            if row.size > self._max_width:
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


def _find(data: bytes | bytearray, byte: bytes, begin: int) -> int:
    """Where it is, and the end if it is not there."""
    found = data.find(byte, begin)
    return found if found >= 0 else len(data)
