"""Escape sequences (ECMA-48 §5, §8.3) in decoded text.

Rules, each so that the result does not depend on where the stream was cut:

- A sequence that is not over when the text ends is held back by the caller and read again with what follows.
- A control sequence has at most 48 parameter characters and 4 intermediate ones. A character that does not belong
  where it stands ends the sequence, and is read as what it is.
- The string of OSC, DCS, SOS, PM and APC ends at BEL, ST, CAN or SUB, before any other ESC and before a newline, and at
  the latest after 4,096 characters.
- A newline ends whatever was open; text is therefore searched line by line.
"""

from __future__ import annotations

import re

from boundcap_jupyter.core.sgr import MAX_PARAMETER_BYTES

#: Longer than any link or title; an unended string hides no more of the output than this.
MAX_STRING = 4096

#: An escape sequence, complete or as far as it goes. Groups: `csi_final` with `csi`, its parameters; `string_end` with
#: `string`; `final` of the two-character and intermediate forms.
ESCAPE = re.compile(
    rf"""
    \x1b (?:
        \[ (?P<csi> [0-?]{{0,{MAX_PARAMETER_BYTES}}} ) (?P<intermediate> [\ -/]{{0,4}} ) (?P<csi_final> [@-~] )?
      | (?P<string> [\]PX^_] [^\x07\x18\x1a\x1b\n]{{0,{MAX_STRING}}} ) (?P<string_end> [\x07\x18\x1a] | \x1b\\ )?
      | [\ -/]{{0,4}} (?P<final> [0-~] )?
    )
    """,
    re.VERBOSE,
)


def is_open(match: re.Match[str]) -> bool:
    """True if what follows the match, at the end of its text, could still belong to it."""
    if match.end() < len(match.string):
        # The one thing that a match stops before and that may yet turn out to be its end: the ESC of ST.
        return match["string"] is not None and not match["string_end"] and match.string[match.end() :] == "\x1b"
    if match["csi_final"] or match["string_end"] or match["final"]:
        return False
    return match["string"] is None or len(match["string"]) <= MAX_STRING
