"""A slow, obvious terminal to judge the capture by. It looks at one character at a time, forgets nothing and imports
nothing of the package.

It is written from the rules of the design: the table of controls, the last 64 rows, rows that are wide, and the choice
of the shown lines. Only the way in which colours are written is the package's own (`sgr`), so it is passed in.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

REACH, WIDE, MAX_WIDTH, MAX_COLUMN = 64, 2048, 65_536, 1000


@dataclass
class Cell:
    char: str
    style: object
    link: str


@dataclass
class Line:
    start: int
    newlines: int
    cells: list[Cell] = field(default_factory=list)
    end: object = None
    cut: int = 0


class Terminal:
    def __init__(self, data: bytes, sgr, safe_link, *, max_width: int = MAX_WIDTH, keep_start: bool = False) -> None:
        self.apply_sgr, self.transition, self.plain = sgr
        self.safe_link = safe_link
        self.max_width, self.keep_start = max_width, keep_start
        self.total, self.newlines = len(data), data.count(b"\n")
        self.style, self.link = self.plain, ""
        self.lines = [Line(0, 0, end=self.plain)]
        self.row = self.column = self.frozen = 0
        # Newlines never belong to another character in UTF-8: lines are decoded one by one, so offsets are known.
        offset = 0
        pieces = data.split(b"\n")
        for number, piece in enumerate(pieces):
            self.read(piece.decode("utf-8", "replace"))
            offset += len(piece) + 1
            if number < len(pieces) - 1:
                self.newline(offset, number + 1)
        if self.row == len(self.lines) - 1:
            self.lines[-1].end = self.style

    def read(self, text: str) -> None:
        i = 0
        while i < len(text):
            if text[i] == "\x1b":
                i = self.escape(text, i + 1)
            else:
                self.character(text[i])
                i += 1

    def character(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char == "\0":
            self.put("\u2400")
        elif char == "\t" or not (char < " " or "\x7f" <= char <= "\x9f"):
            self.put(char)

    def put(self, char: str) -> None:
        line = self.lines[self.row]
        if self.keep_start and self.column >= self.max_width:
            self.column += 1
            return
        while len(line.cells) < self.column:
            line.cells.append(Cell(" ", self.plain, ""))
        line.cells[self.column : self.column + 1] = [Cell(char, self.style, self.link)]
        self.column += 1
        while len(line.cells) > self.max_width:
            del line.cells[0]
            line.cut += 1
            self.column -= 1

    def newline(self, offset: int, newlines: int) -> None:
        line = self.lines[self.row]
        line.end = self.style
        self.link = ""
        if len(line.cells) > WIDE:
            self.frozen = max(self.frozen, self.row + 1)
        self.row += 1
        self.column = 0
        if self.row == len(self.lines):
            self.lines.append(Line(offset, newlines, end=self.plain))
            self.frozen = max(self.frozen, len(self.lines) - REACH)

    def escape(self, text: str, i: int) -> int:
        """Reads what follows an ESC; returns where reading goes on."""
        if i == len(text):
            return i
        if text[i] == "[":
            i += 1
            parameters = ""
            while i < len(text) and "0" <= text[i] <= "?" and len(parameters) < 48:
                parameters += text[i]
                i += 1
            intermediate = ""
            while i < len(text) and " " <= text[i] <= "/" and len(intermediate) < 4:
                intermediate += text[i]
                i += 1
            if i < len(text) and "@" <= text[i] <= "~":
                if not intermediate:
                    self.control(parameters, text[i])
                i += 1
            return i
        if text[i] in "]PX^_":
            string = text[i]
            i += 1
            while i < len(text) and text[i] not in "\x07\x18\x1a\x1b" and len(string) <= 4096:
                string += text[i]
                i += 1
            if text[i : i + 1] == "\x07" or text[i : i + 2] == "\x1b\\":
                if string.startswith("]8;"):
                    self.link = self.safe_link(string[3:].partition(";")[2])
                return i + (1 if text[i] == "\x07" else 2)
            return i + 1 if text[i : i + 1] in ("\x18", "\x1a") and i < len(text) else i
        if text[i] == "M":
            self.control("", "A")
            return i + 1
        count = 0
        while i < len(text) and " " <= text[i] <= "/" and count < 4:
            i += 1
            count += 1
        return i + 1 if i < len(text) and "0" <= text[i] <= "~" else i

    def control(self, parameters: str, final: str) -> None:
        if final == "m" and not set(parameters) - set("0123456789;:"):
            self.style = self.apply_sgr(self.style, parameters)
            return
        if final not in "ABCDEFGJK" or set(parameters) - set("0123456789;"):
            return
        first = parameters.partition(";")[0]
        line = self.lines[self.row]
        if final == "K":
            if int(first or 0) == 0:
                del line.cells[self.column :]
            elif int(first) == 1:
                if self.column + 1 >= len(line.cells):
                    line.cells.clear()
                else:
                    line.cells[: self.column + 1] = [Cell(" ", self.plain, "") for _ in range(self.column + 1)]
            elif int(first) == 2:
                line.cells.clear()
            return
        if final == "J":
            if int(first or 0) == 0:
                del line.cells[self.column :]
                for below in self.lines[self.row + 1 :]:
                    below.cells.clear()
            return
        if final in "EF":
            self.control(parameters, "B" if final == "E" else "A")
            self.column = 0
            return
        n = max(1, int(first or 0))
        reach = max(MAX_COLUMN, len(line.cells))
        if final == "A":
            if self.row == len(self.lines) - 1:
                line.end = self.style
            if len(line.cells) <= WIDE:
                self.row = max(self.frozen, self.row - n)
        elif final == "B":
            target = min(len(self.lines) - 1, self.row + n)
            if target > self.row and len(line.cells) > WIDE:
                self.frozen = max(self.frozen, self.row + 1)
            self.row = target
        elif final == "C":
            self.column = max(self.column, min(self.column + n, reach))
        elif final == "D":
            self.column = max(0, self.column - n)
        else:
            self.column = min(n - 1, reach)

    # --- what is shown

    def render(self, index: int, first: int | None = None, columns: int | None = None) -> str:
        line = self.lines[index]
        before = self.lines[index - 1].end if index else self.plain
        cells = line.cells[first or 0 : columns]
        if first is not None:
            before = line.cells[first].style
        last = index == len(self.lines) - 1
        if last and not line.cells:
            return ""
        out, link = "", ""
        for cell in cells:
            if cell.link != link:
                out += f"\x1b]8;;{cell.link}\x1b\\"
                link = cell.link
            out += self.transition(before, cell.style) + cell.char
            before = cell.style
        if link:
            out += "\x1b]8;;\x1b\\"
        if columns is not None:
            return out
        return out + self.transition(before, line.end) + ("" if last else "\n")

    def tail(self, max_bytes: int, max_lines: int) -> dict:
        """Text, raw bytes and newlines omitted, the limit that cut, and whether the first line is partial."""
        last = len(self.lines) - 1 if self.lines[-1].cells else len(self.lines) - 2
        texts: list[str] = []
        first, reason = len(self.lines), None
        while first > 0:
            if first - 1 <= last and last - (first - 1) >= max_lines:
                reason = "lines"
                break
            text = self.render(first - 1)
            if size(texts) + len(text.encode()) > max_bytes:
                reason = "bytes"
                break
            texts.insert(0, text)
            first -= 1
        partial = ""
        if reason == "bytes" and (first > last or 2 * size(texts) < max_bytes):
            room = max_bytes - size(texts)
            cut = next(
                (c for c in range(len(self.lines[first - 1].cells)) if len(self.render(first - 1, c).encode()) <= room),
                None,
            )
            if cut is not None:
                # Cut by nothing is not cut: the colour in front of the row was all that did not fit.
                if cut:
                    partial = "last" if first > last else "first"
                elif first == 1:
                    reason = None
                first -= 1
                texts.insert(0, self.render(first, cut))
        if reason is None:
            return {"text": "".join(texts), "bytes": 0, "lines": 0, "by": None, "partial": ""}
        omitted = self.lines[first].start
        if partial:
            end = self.lines[first + 1].start if first + 1 < len(self.lines) else self.total
            omitted = max(omitted + 1, end - self.raw(texts[0]))
        return {
            "text": "".join(texts),
            "bytes": omitted,
            "lines": self.lines[first].newlines,
            "by": reason,
            "partial": partial,
        }

    def head(self, max_bytes: int, max_lines: int) -> dict:
        last = len(self.lines) - 1 if self.lines[-1].cells else len(self.lines) - 2
        texts: list[str] = []
        reason = None
        for index in range(len(self.lines)):
            if index == max_lines and index <= last:
                reason = "lines"
                break
            text = self.render(index)
            if size(texts) + len(text.encode()) > max_bytes:
                reason = "bytes"
                break
            texts.append(text)
        if reason == "bytes" and not texts:
            columns = max(
                c for c in range(len(self.lines[0].cells) + 1) if len(self.render(0, None, c).encode()) <= max_bytes
            )
            text = self.render(0, None, columns)
            row_end = self.lines[1].start if len(self.lines) > 1 else self.total
            omitted = self.total - min(self.raw(text), row_end - 1)
            return {"text": text, "bytes": omitted, "lines": self.newlines, "by": reason, "partial": "beginning"}
        if reason is None:
            return {"text": "".join(texts), "bytes": 0, "lines": 0, "by": None, "partial": ""}
        first_out = self.lines[len(texts)]
        return {
            "text": "".join(texts),
            "bytes": self.total - first_out.start,
            "lines": self.newlines - first_out.newlines,
            "by": reason,
            "partial": "",
        }

    def both(self, max_bytes: int, max_lines: int) -> dict:
        whole = self.tail(max_bytes, max_lines)
        if whole["by"] is None:
            return whole | {"head": ""}
        head_bytes, head_lines = math.ceil(max_bytes / 4), min(math.ceil(max_lines / 4), max_lines - 1)
        head = self.head(head_bytes, head_lines)
        tail = self.tail(max_bytes - head_bytes, max_lines - head_lines)
        least = 1 if head["partial"] or tail["partial"] else 0
        between = max(least, tail["bytes"] - (self.total - head["bytes"]))
        return tail | {
            "head": head["text"],
            "bytes": between,
            "lines": max(0, tail["lines"] - (self.newlines - head["lines"])),
            "by": tail["by"] if between else None,
        }

    def raw(self, text: str) -> int:
        text = re.sub("\x1b\\[[0-9;:]*m|\x1b\\]8;;[^\x1b]*\x1b\\\\", "", text)
        return len(text.encode()) - 2 * (text.count("\ufffd") + text.count("\u2400"))


def size(texts: list[str]) -> int:
    return len("".join(texts).encode())
