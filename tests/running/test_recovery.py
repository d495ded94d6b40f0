from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from boundcap_jupyter.core.capture import OutputCapture
from boundcap_jupyter.core.limits import OutputLimits, Retain
from boundcap_jupyter.core.view import OutputView
from boundcap_jupyter.running import recovery
from boundcap_jupyter.running.recovery import recovered_view


def shown(data: bytes, limits: OutputLimits, encoding: str = "utf-8") -> OutputView:
    capture = OutputCapture(limits, encoding=encoding)
    capture.feed(data)
    capture.finish()
    view = capture.view()
    return replace(view, metadata=replace(view.metadata, spill_state="incomplete", spill_bytes=len(data)), rows=None)


LINES = b"".join(b"line %d\n" % number for number in range(100_000))


@pytest.mark.parametrize("retain", ["tail", "head", "both"])
@pytest.mark.parametrize("ends", [1024**3, 20_000], ids=["whole", "only its ends"])
@pytest.mark.parametrize("data", [LINES, LINES + b"no newline", LINES[:50_000], b"", b"x"], ids=len)
def test_it_is_what_the_run_would_have_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retain: Retain, ends: int, data: bytes
) -> None:
    monkeypatch.setattr(recovery, "END_BYTES", ends)
    monkeypatch.setattr(recovery, "_CHUNK", 7000)
    (tmp_path / "output.log").write_bytes(data)
    limits = OutputLimits(4096, 100, retain)
    assert recovered_view(tmp_path / "output.log", limits, "utf-8") == shown(data, limits)


def test_a_single_line_without_end_is_counted_to_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "END_BYTES", 20_000)
    monkeypatch.setattr(recovery, "_CHUNK", 7000)
    (tmp_path / "output.log").write_bytes(b"x" * 1_000_000)
    view = recovered_view(tmp_path / "output.log", OutputLimits(1024), "utf-8")
    assert view.text == "x" * 1024
    facts = view.metadata.truncation
    assert (facts.total_bytes, facts.total_lines, view.metadata.last_line_bytes) == (1_000_000, 1, 1_000_000)
    assert view.metadata.omitted_bytes == 1_000_000 - 1024


def test_the_charset_counts(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_bytes("да\n".encode("koi8-r"))
    assert recovered_view(tmp_path / "output.log", OutputLimits(), "koi8-r").text == "да\n"


def test_neither_a_link_nor_a_pipe_is_read(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name in "link", "pipe":
        with pytest.raises(OSError, match=name):
            recovered_view(tmp_path / name, OutputLimits(), "utf-8")
