"""How fast output comes, and for how long none came; the same as in the panel (js/src/core/pace.ts).

The rate is that of the last seconds, so that one late update makes it neither jump nor fall, and it stands still for a
second at a time: a figure that changes ten times a second can not be read.
"""

from __future__ import annotations

from collections import deque

from boundcap_jupyter.show.summary import quiet, rate

#: Seconds that the rate looks back.
WINDOW = 5.0
#: Seconds between two samples, and between two rates that are told.
CALM = 1.0
#: Seconds without output that are worth a word: shorter pauses are how programs print.
QUIET_AFTER = 5.0


class Pace:
    """Told the time, in seconds of any clock, and the total of all output, in bytes."""

    def __init__(self, now: float) -> None:
        #: (time, total), the oldest first; that is `WINDOW` old or a little more as soon as the run is.
        self._samples = deque([(now, 0)])
        self._bytes = 0
        self._last_output = now
        self._rate: float | None = None
        self._rate_at = float("-inf")

    def take(self, total_bytes: int, now: float) -> None:
        if total_bytes != self._bytes:
            self._bytes = total_bytes
            self._last_output = now
        self._advance(now)

    def words(self, now: float) -> str:
        """As "1.2 kB/s" or "quiet for 7 s"; "" in the first second, when there is nothing to tell yet."""
        silence = now - self._last_output
        if silence >= QUIET_AFTER:
            return quiet(silence)
        self._advance(now)
        at, total = self._samples[0]
        if now - at >= CALM and now - self._rate_at >= CALM:
            self._rate = (self._bytes - total) / (now - at)
            self._rate_at = now
        return "" if self._rate is None else rate(self._rate)

    def _advance(self, now: float) -> None:
        if now - self._samples[-1][0] >= CALM:
            self._samples.append((now, self._bytes))
        while len(self._samples) > 1 and self._samples[1][0] <= now - WINDOW:
            self._samples.popleft()
