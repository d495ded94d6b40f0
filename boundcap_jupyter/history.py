"""`runs`: what was run before, by this kernel and by others, as far as it left files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, overload

from boundcap_jupyter.core.status import RunState, RunStatus
from boundcap_jupyter.core.text import plain
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running.history import StoredRun, find_run, latest_runs
from boundcap_jupyter.running.history import read_run as _read_run
from boundcap_jupyter.running.record import RecordError
from boundcap_jupyter.running.store import store_root
from boundcap_jupyter.show.listing import Row, listing_html, listing_text
from boundcap_jupyter.show.static import static_bundle
from boundcap_jupyter.show.terminal.live import row_columns

#: Runs that are read unless more are asked for.
DEFAULT_LIMIT = 100


class EarlierRun:
    """A run that left a record. As the last expression of a cell it shows its last view, like a result.

    For a run that still runs, or whose kernel died, the view is at most some seconds behind the output. A record that
    can not be read has `damage`, which says why; `state` and what else is not known is None.
    """

    def __init__(self, stored: StoredRun) -> None:
        self._directory = stored.directory
        #: `<session>/<run>`; any beginning of it that no other run shares will do to find it.
        self.id = stored.id
        self.damage = stored.damage
        record = stored.record
        self.command: str | tuple[str, ...] | None = record.command if record is not None else None
        self.cwd = record.cwd if record is not None else None
        self.started: datetime | None = record.started if record is not None else None
        self.status: RunStatus | None = record.status if record is not None else None
        # The text stays on the disk: there may be thousands.
        self._metadata = record.view.metadata if record is not None else None

    @property
    def state(self) -> RunState | None:
        """For a run whose kernel died "interrupted"."""
        return self.status.state if self.status is not None else None

    @property
    def exit_code(self) -> int | None:
        return self.status.exit_code if self.status is not None else None

    @property
    def duration(self) -> float | None:
        """Seconds; of an interrupted run until its last record, and so what it took at least."""
        return self.status.duration if self.status is not None else None

    @property
    def total_bytes(self) -> int | None:
        return self._metadata.truncation.total_bytes if self._metadata is not None else None

    @property
    def total_lines(self) -> int | None:
        return self._metadata.truncation.total_lines if self._metadata is not None else None

    @property
    def spill_path(self) -> str | None:
        """Where the complete output is, if there is one."""
        return self._metadata.spill_path if self._metadata is not None else None

    @property
    def view(self) -> OutputView:
        """The last view, read now. Raises RecordError if it is gone or can not be read."""
        return self._read()[1]

    @property
    def stderr_view(self) -> OutputView | None:
        """The last view of the standard error where it was kept apart, read now."""
        return self._read()[3]

    @property
    def text(self) -> str:
        """The bounded text without colours, read now."""
        return plain(self.view.text)

    def _read(self) -> tuple[RunStatus, OutputView, Any, OutputView | None]:
        stored = _read_run(self._directory)
        if stored is None or stored.record is None:
            raise RecordError(f"the run {self.id} cannot be shown: {stored.damage if stored else 'it was removed'}")
        record = stored.record
        return record.status, record.view, record.retain, record.stderr_view

    def __repr__(self) -> str:
        return f"<EarlierRun {self.id} {self.state or f'damaged: {self.damage}'}>"

    def _row(self) -> Row:
        return Row(self.id, self.command or "", self.started, self.status, self._metadata, self.damage)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002 - IPython's
        try:
            status, view, retain, stderr_view = self._read()
        except RecordError as error:
            return {"text/plain": str(error)}
        return static_bundle(_Shown(status, view, stderr_view), retain)


@dataclass(frozen=True)
class _Shown:
    status: RunStatus
    view: OutputView
    stderr_view: OutputView | None


class Runs(Sequence[EarlierRun]):
    """Runs, the newest first. `total` is how many there are, of which these were read."""

    def __init__(self, found: Sequence[EarlierRun], total: int) -> None:
        self._found = found
        self.total = total

    @overload
    def __getitem__(self, index: int) -> EarlierRun: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> EarlierRun | Runs:
        if isinstance(index, slice):
            part = self._found[index]
            return Runs(part, len(part))
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[EarlierRun]:
        return iter(self._found)

    def __repr__(self) -> str:
        return self.table()

    def table(self, columns: int | None = None) -> str:
        """A line for each run, which takes at most `columns` columns of a terminal where that is given."""
        return listing_text([run._row() for run in self._found], self.total, columns)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - IPython's
        # The text in a notebook is as wide as it is: there a person sees the HTML.
        first, *others = self.table(row_columns(sys.stdout)).split("\n")
        printer.text(first)
        for line in others:
            printer.break_()
            printer.text(line)

    def _repr_html_(self) -> str:
        return listing_html([run._row() for run in self._found], self.total)


def runs(limit: int | None = DEFAULT_LIMIT) -> Runs:
    """Earlier runs that left files, those of other kernels and of kernels that died included, the newest first.

    limit    how many to read at most, None for all

    A run that was short and small leaves nothing and is not here. Raises ValueError for a limit that is no number of
    runs. Costs a look at each run, and the reading of the records that are returned.
    """
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        raise ValueError(f"limit must be a number of runs, or None for all, not {limit!r}")
    found, total = latest_runs(store_root(), limit)
    return Runs([EarlierRun(run) for run in found], total)


def earlier_run(wanted: str) -> EarlierRun:
    """The run with this id, or the only one whose id begins so. Raises RunNotFoundError (a LookupError)."""
    return EarlierRun(find_run(store_root(), wanted))
