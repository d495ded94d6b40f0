"""Charsets that a stream may be in: those in which a newline and an escape are the bytes that they are in ASCII."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

#: Charsets that use ASCII characters to switch between tables, or for names of hosts alone: their bytes say nothing
#: without what came before.
_STATEFUL = ("hz", "iso2022", "utf-7", "idna", "punycode")


#: Must be itself in any of the charsets; the first is more than itself where escapes are meant for Python.
_ASCII = (b"\\u0041\\n", bytes(range(128)))


@dataclass(frozen=True, slots=True)
class Charset:
    """A charset by Python's name for it."""

    name: str

    @property
    def is_utf_8(self) -> bool:
        return self.name == "utf-8"

    def decoder(self) -> codecs.IncrementalDecoder:
        """One that shows what is invalid as U+FFFD."""
        return codecs.getincrementaldecoder(self.name)("replace")

    def length(self, text: str) -> int:
        """Bytes of a text that was decoded from this charset."""
        return len(text) if text.isascii() else len(text.encode(self.name, "ignore"))

    def undecodable(self, data: bytes) -> int:
        """How many bytes of `data` are no part of a character. Costs a decoding and an encoding."""
        return len(data) - len(data.decode(self.name, "ignore").encode(self.name, "ignore"))


UTF_8 = Charset("utf-8")


def checked_charset(encoding: str) -> Charset:
    """The charset of that name. Raises ValueError that names it if it is unknown, or none that a terminal could use."""
    try:
        name = codecs.lookup(encoding).name
        is_like_ascii = not name.startswith(_STATEFUL) and all(
            data.decode(name) == data.decode("ascii") for data in _ASCII
        )
    except (LookupError, TypeError, UnicodeError, ValueError):
        raise ValueError(f"encoding must be the name of a charset, not {encoding!r}") from None
    if not is_like_ascii:
        raise ValueError(f"encoding must be a charset that contains ASCII as it is, not {encoding!r}")
    return Charset(name)
