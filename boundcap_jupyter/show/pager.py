"""Answers what a panel asks of its run: bytes of the complete output for a download, older lines to show, the result.

    panel to kernel   {"type": "page", "id": n, "stream": s, "offset": n, "length": n, "base64": false}
                      {"type": "older", "id": n, "stream": s, "before": n}
                      {"type": "result", "id": n}
    kernel to panel   {"type": "page", "id": n, "size": n, "length": n, "base64": null}      the bytes as a buffer
                      {"type": "older", "id": n, "begins": n, "lines": n, "newlines": n, "text": t, "leadSgr": t}
                      {"type": "result", "id": n, "model": t, "bundle": {mime type: t}}
                      {"type": "refused", "id": n, "reason": t, "retry": false}

A request is not trusted: it names a stream of its own run and numbers, never a path, and each costs and brings no more
than a bound that stands here. Nothing is remembered between requests, so one that is lost is asked again, and a panel
that goes leaves nothing behind. All pages of a model get every answer; they know theirs by the id, which they choose.
"""

from __future__ import annotations

import base64
import reprlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any, Protocol, TypeGuard

from boundcap_jupyter.core.charset import checked_charset
from boundcap_jupyter.core.passage import passage_before

#: Bytes of one answer at most. With 1 MiB a download runs at the pace of larger ones, and nothing grows with it.
PAGE = 1024 * 1024
#: Lines that "Show more" adds.
OLDER_LINES = 2000
#: What JSON numbers of a page can hold exactly (ECMA-262, Number.MAX_SAFE_INTEGER).
MAX_NUMBER = 2**53 - 1
#: Answers a second, and at once after a rest: twice what a download makes of them, far below what the server drops.
RATE, BURST = 64, 8
#: Answers that are made at the same time: requests come on several threads, and each holds a page in memory.
AT_ONCE = 2

Answer = tuple[dict[str, Any], list[bytes]]


class PageSource(Protocol):
    """The complete output of one stream, as far as it is there. Any number of threads may read."""

    @property
    def size(self) -> int:
        """Bytes that can be read now."""
        ...

    @property
    def encoding(self) -> str:
        """The charset of the text."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """At most `length` bytes, fewer at the end of what is there. Raises OSError if they can not be read."""
        ...


class Pager:
    """Answers requests from `sources`, by the names of the streams; they may be set later. Any thread may ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.sources: Mapping[str, PageSource] = {}
        #: What stays in the notebook when the run is over, and the id of the model that it takes the place of.
        self.result: Callable[[], tuple[str, Mapping[str, str]]] | None = None
        self._limit = RateLimit(clock)
        self._room = BoundedSemaphore(AT_ONCE)

    def answer(self, message: object) -> Answer | None:
        """(content, buffers) of the answer; None for a message that is no request, or so malformed that it has no id.

        Costs a read of `PAGE` bytes, or the interpretation of as many.
        """
        if not isinstance(message, dict):
            return None
        kind, number = message.get("type"), message.get("id")
        if not isinstance(kind, str) or kind not in _REQUESTS or not _is_count(number):
            return None
        try:
            request = _REQUESTS[kind](message)
            make = self._maker(request)
        except ValueError as error:
            return _refused(number, str(error))
        if not self._room.acquire(blocking=False):
            return _refused(number, "other requests are not answered yet", retry=True)
        try:
            if not self._limit.take():
                return _refused(number, f"more than {RATE} requests a second", retry=True)
            return make(number)
        except OSError as error:
            # Without the path that str() would add.
            return _refused(number, f"the file cannot be read: {error.strerror or type(error).__name__}")
        finally:
            self._room.release()

    def _maker(self, request: _Request) -> Callable[[int], Answer]:
        """What makes the answer. Raises ValueError where there is none."""
        if isinstance(request, _ResultRequest):
            if self.result is None:
                raise ValueError("the run is not over, or nothing takes the place of its panel")
            return partial(request.answer, result=self.result)
        source = self.sources.get(request.stream)
        if source is None:
            raise ValueError("the complete output was not kept")
        return partial(request.answer, source=source)


@dataclass(frozen=True, slots=True)
class _ResultRequest:
    def answer(self, number: int, result: Callable[[], tuple[str, Mapping[str, str]]]) -> Answer:
        model, bundle = result()
        return {"type": "result", "id": number, "model": model, "bundle": dict(bundle)}, []


@dataclass(frozen=True, slots=True)
class _PageRequest:
    stream: str
    offset: int
    length: int
    as_text: bool

    def answer(self, number: int, source: PageSource) -> Answer:
        # Before the bytes are read: all up to here are there.
        size = source.size
        data = source.read(self.offset, self.length)
        answer = {"type": "page", "id": number, "size": size, "length": len(data), "base64": None}
        if self.as_text:
            return {**answer, "base64": base64.b64encode(data).decode("ascii")}, []
        return answer, [data]


@dataclass(frozen=True, slots=True)
class _OlderRequest:
    stream: str
    before: int

    def answer(self, number: int, source: PageSource) -> Answer:
        if self.before > source.size:
            return _refused(number, f"the file ends at byte {source.size:,}")
        passage = passage_before(source.read, self.before, OLDER_LINES, checked_charset(source.encoding))
        answer = {
            "type": "older",
            "id": number,
            "begins": passage.begins,
            "lines": passage.lines,
            "newlines": passage.newlines,
            "text": passage.text,
            "leadSgr": passage.lead_sgr,
        }
        return answer, []


class RateLimit:
    """Lets `RATE` through a second, and `BURST` at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._credit = float(BURST)
        self._at = clock()

    def take(self) -> bool:
        with self._lock:
            now = self._clock()
            self._credit = min(float(BURST), self._credit + (now - self._at) * RATE)
            self._at = now
            if self._credit < 1:
                return False
            self._credit -= 1
            return True


def _page_request(message: dict[str, Any]) -> _PageRequest:
    _check_fields(message, {"type", "id", "stream", "offset", "length", "base64"})
    length, as_text = message["length"], message["base64"]
    if not _is_count(length) or not 1 <= length <= PAGE:
        raise ValueError(f"length must be an integer from 1 to {PAGE}, not {_show(length)}")
    if not isinstance(as_text, bool):
        raise ValueError(f"base64 must be true or false, not {_show(as_text)}")
    return _PageRequest(_stream(message), _place(message, "offset"), length, as_text)


def _older_request(message: dict[str, Any]) -> _OlderRequest:
    _check_fields(message, {"type", "id", "stream", "before"})
    return _OlderRequest(_stream(message), _place(message, "before"))


def _result_request(message: dict[str, Any]) -> _ResultRequest:
    _check_fields(message, {"type", "id"})
    return _ResultRequest()


_Request = _PageRequest | _OlderRequest | _ResultRequest
_REQUESTS: dict[str, Callable[[dict[str, Any]], _Request]] = {
    "page": _page_request,
    "older": _older_request,
    "result": _result_request,
}


def _check_fields(message: dict[str, Any], names: set[str]) -> None:
    if message.keys() != names:
        wrong = sorted(map(_show, message.keys() ^ names))
        raise ValueError(f"a request must have the fields {', '.join(sorted(names))}: {', '.join(wrong[:3])} is wrong")


def _stream(message: dict[str, Any]) -> str:
    stream = message["stream"]
    if not isinstance(stream, str) or stream not in ("output", "stderr"):
        raise ValueError(f"stream must be 'output' or 'stderr', not {_show(stream)}")
    return stream


def _place(message: dict[str, Any], name: str) -> int:
    value = message[name]
    if not _is_count(value):
        raise ValueError(f"{name} must be an integer from 0 to {MAX_NUMBER}, not {_show(value)}")
    return value


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_NUMBER


def _refused(number: int, reason: str, *, retry: bool = False) -> Answer:
    return {"type": "refused", "id": number, "reason": reason, "retry": retry}, []


def _show(value: object) -> str:
    # Short: a value that is wrong may be as long as a page.
    return reprlib.repr(value)
