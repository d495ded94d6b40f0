"""What the measured commands print: files of any size, the same bytes each time.

A block of a few megabytes comes from a fixed seed, the file repeats it: lines differ as those of a real log do, and a
gigabyte is made in a second. No block's size is a multiple of what programs read at a time, so cuts fall anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random

#: Bytes of a block, at least.
BLOCK = 4 * 1024 * 1024

_SEED = 20_250_101


def _log(random: Random) -> Iterator[bytes]:
    levels = (b"DEBUG", b"INFO", b"INFO", b"INFO", b"WARNING", b"ERROR")
    for step in count():
        level, seconds, details = random.choice(levels), random.random() * 10, b" x" * random.randrange(40)
        yield b"%09.3f %s worker-%02d step %d took %.3f s%s" % (step / 7, level, step % 61, step, seconds, details)


def log_lines(random: Random) -> Iterator[bytes]:
    return (line + b"\n" for line in _log(random))


def crlf_lines(random: Random) -> Iterator[bytes]:
    return (line + b"\r\n" for line in _log(random))


def utf8_lines(random: Random) -> Iterator[bytes]:
    words = ("größer", "naïve", "данные", "完了", "✓", "🚀")
    return (line + f" {random.choice(words)}\n".encode() for line in _log(random))


def sgr_lines(random: Random) -> Iterator[bytes]:
    return (b"\x1b[%dm%s\x1b[0m\n" % (random.randrange(31, 37), line) for line in _log(random))


def one_line(random: Random) -> Iterator[bytes]:
    return _log(random)


def frames(random: Random) -> Iterator[bytes]:
    """A progress bar that overwrites itself; a newline comes once in a thousand frames, as at the end of a file."""
    for number, bar in enumerate(_bars(random)):
        yield b"\r" + bar + (b"\n" if number % 1000 == 999 else b"")


def erased_frames(random: Random) -> Iterator[bytes]:
    return (frame.replace(b"\r", b"\r\x1b[K") for frame in frames(random))


def coloured_frames(random: Random) -> Iterator[bytes]:
    return (frame.replace(b"\r", b"\r\x1b[32m") + b"\x1b[0m" for frame in frames(random))


def nested_bars(random: Random) -> Iterator[bytes]:
    """Two bars, the inner one below the outer, redrawn by moving the cursor up as tqdm does."""
    bars = _bars(random)
    while True:
        yield b"\r%s\n\r%s\x1b[A" % (next(bars), next(bars))


def random_bytes(random: Random) -> Iterator[bytes]:
    while True:
        yield random.randbytes(64 * 1024 + 1)


def _bars(random: Random) -> Iterator[bytes]:
    for step in count():
        done = step % 1001
        bar, speed = b"#" * (done // 25), random.random() * 100
        yield b"%3d%%|%-40s| %d/1000 [%.1f it/s]" % (done // 10, bar, done, speed)


def make(path: Path, pieces: Callable[[Random], Iterator[bytes]], size: int) -> Path:
    """Write a file of exactly `size` bytes, the last line cut where it falls.

    Being written leaves it in the page cache.
    """
    block = _block(pieces, min(size, BLOCK))
    with path.open("wb") as file:
        for _ in range(size // len(block)):
            file.write(block)
        file.write(block[: size % len(block)])
    return path


def _block(pieces: Callable[[Random], Iterator[bytes]], size: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    for piece in pieces(Random(_SEED)):
        parts.append(piece)
        length += len(piece)
        if length >= size:
            break
    # Odd, so that reads of an even size never fall on the same places again.
    return b"".join(parts) + (b"" if length % 2 else b" ")
