import random

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.testing.chunking import every_chunking


def seen(data, *, encoding="utf-8", **limits):
    capture = OutputCapture(OutputLimits(**limits), encoding=encoding)
    spilled = capture.feed(data) + capture.finish()
    return capture.view(), spilled


RANDOM = random.Random(7).randbytes(1 << 20)


@pytest.mark.parametrize("retain", ["tail", "head", "both"])
def test_random_bytes_are_shown_as_a_short_dump(retain):
    view, spilled = seen(RANDOM, retain=retain)
    assert view.metadata.binary
    assert spilled == RANDOM
    shown = RANDOM[:256] if retain == "head" else RANDOM[-256:]
    first = 0 if retain == "head" else len(RANDOM) - 256
    rows = view.text.splitlines()
    assert len(rows) == view.metadata.truncation.output_lines == 16
    assert rows[0].startswith(f"{first:08x}  {shown[:16].hex(' ')}  |")
    assert b"".join(bytes.fromhex(row[10:57]) for row in rows) == shown
    assert view.metadata.omitted_bytes == len(RANDOM) - 256
    assert view.metadata.omitted_lines == RANDOM.count(b"\n") - shown.count(b"\n")


def test_a_little_binary_is_spilled_too_since_a_dump_is_not_the_data():
    view, spilled = seen(RANDOM[:1000])
    assert view.metadata.binary
    assert spilled == RANDOM[:1000]
    assert view.metadata.omitted_bytes > 0


def test_the_dump_of_what_is_less_than_its_rows_shows_all():
    data = bytes(range(256)) + bytes(100)
    view, _ = seen(data[-300:], max_bytes=51200)
    assert view.metadata.binary is (sum(b in {*range(32), 127} - {*b"\t\n\r\b\x1b"} for b in data[-300:]) >= 256)


@pytest.mark.parametrize(
    "data",
    [
        b"".join(b"\b" + frame for frame in (b"|", b"/", b"-", b"\\")) * 500,
        b"\x1b[31m#\x1b[0m" * 1000,
        b"\r\t\n" * 500,
        "привет, мир ".encode("koi8-r") * 500,
        "日本語テキスト\n".encode() * 500,
        b"a\0b\0c\nd\n",
        bytes(255),
        b"plain text\n" * 100 + bytes(300),
    ],
    ids=["spinner", "colours", "blanks", "koi8-r", "japanese", "three NULs", "255 NULs", "NULs in much text"],
)
def test_what_is_text_is_not_called_binary(data):
    view, _ = seen(data)
    assert not view.metadata.binary


def test_nuls_alone_are_binary_from_256_on():
    view, _ = seen(bytes(256))
    assert view.metadata.binary
    assert view.text.startswith("00000000  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  |................|\n")
    assert view.metadata.omitted_bytes == 0


def test_only_what_is_held_decides():
    text = b"text and more text\n" * 5000
    assert not seen(RANDOM + text)[0].metadata.binary
    assert seen(RANDOM + text, retain="head")[0].metadata.binary


@pytest.mark.parametrize(("max_bytes", "max_lines", "rows"), [(64, 100, 1), (100, 100, 1), (51200, 3, 3)])
def test_the_dump_stays_within_the_limits(max_bytes, max_lines, rows):
    view, _ = seen(RANDOM, max_bytes=max_bytes, max_lines=max_lines)
    assert view.metadata.binary
    assert view.text.count("\n") == rows
    assert len(view.text) <= max_bytes


def test_any_chunking_gives_the_same_dump():
    data = RANDOM[:600]
    whole, _ = seen(data, max_bytes=400)
    for chunks in every_chunking(data):
        capture = OutputCapture(OutputLimits(max_bytes=400))
        for chunk in chunks:
            capture.feed(chunk)
        capture.finish()
        assert capture.view() == whole
