"""Programs that are run for what they print."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from boundcap_jupyter.core.clip import LEAST, parse_jsonl
from boundcap_jupyter.core.status import RunState
from boundcap_jupyter.running import cli
from boundcap_jupyter.running.cli import BOUND_VARIABLE, run_cli
from boundcap_jupyter.running.environment import ExecutionError
from tests.running.observe import marked_processes

CHILDREN = Path(__file__).parents[1] / "children"


def call(script: str, **options: object) -> tuple[str, str, int]:
    return asyncio.run(run_cli(["sh", "-c", script], **options))  # type: ignore[arg-type]


def test_both_outputs_and_the_exit_code_are_returned_as_they_came():
    script = r"printf 'a\rb\033[31mred\n'; printf 'err\ttext' >&2; exit 3"
    assert call(script) == ("a\rb\x1b[31mred\n", "err\ttext", 3)


def test_a_signal_is_an_exit_code_as_in_a_shell():
    assert call("kill -9 $$") == ("", "", 137)


def test_the_outputs_are_kept_apart_whatever_their_order():
    script = "for i in $(seq 250); do echo out $i; echo err $i >&2; done"
    output, errors, _ = call(script)
    assert output == "".join(f"out {number}\n" for number in range(1, 251))
    assert errors == "".join(f"err {number}\n" for number in range(1, 251))


def test_a_flood_of_errors_does_not_block_the_output():
    output, errors, code = call("head -c 5000000 /dev/zero | tr '\\0' e >&2; echo done")
    assert (output, len(errors), code) == ("done\n", 5_000_000, 0)


def test_input_environment_and_directory_are_those_that_were_given(tmp_path, monkeypatch):
    monkeypatch.setenv("NOT_FOR_IT", "secret")
    output, _, _ = call("cat; pwd; echo $A; echo ${NOT_FOR_IT-unset}", input_text="in\n", cwd=tmp_path, env={"A": "b"},
                        unset_env=["NOT_FOR_IT"])  # fmt: skip
    assert output == f"in\n{tmp_path}\nb\nunset\n"
    assert os.environ["NOT_FOR_IT"] == "secret"


def test_a_long_stream_keeps_its_ends_within_the_bound(monkeypatch):
    monkeypatch.setenv(BOUND_VARIABLE, "10000")
    script = """for i in $(seq 1000); do echo "{\\"event\\": $i}"; done"""
    output, _, _ = call(script)
    assert len(output) <= 10_000
    events = parse_jsonl(output)
    assert events[0] == {"event": 1}
    assert events[-1] == {"event": 1000}
    whole = "".join(json.dumps({"event": number}) + "\n" for number in range(1, 1001))
    assert len(output) < len(whole)


@pytest.mark.parametrize("value", ["0", "-1"])
def test_there_may_be_no_bound(monkeypatch, value):
    monkeypatch.setenv(BOUND_VARIABLE, value)
    assert len(call("head -c 20000000 /dev/zero | tr '\\0' a")[0]) == 20_000_000


def test_below_the_default_bound_all_is_kept(monkeypatch):
    monkeypatch.delenv(BOUND_VARIABLE, raising=False)
    size = cli.DEFAULT_BOUND
    assert len(call(f"head -c {size} /dev/zero | tr '\\0' a")[0]) == size
    assert len(call(f"head -c {size + 1} /dev/zero | tr '\\0' a")[0]) < size


@pytest.mark.parametrize(("value", "bound"), [("much", cli.DEFAULT_BOUND), ("1e6", cli.DEFAULT_BOUND), ("100", LEAST)])
def test_a_bound_that_is_none_is_said_once(monkeypatch, caplog, value, bound):
    monkeypatch.setattr(cli, "_warned", set())
    monkeypatch.setenv(BOUND_VARIABLE, value)
    with caplog.at_level(logging.WARNING):
        assert cli._bound() == bound
        assert cli._bound() == bound
    assert len(caplog.records) == 1
    assert BOUND_VARIABLE in caplog.text
    assert value in caplog.text


def test_a_program_that_prints_nothing_for_so_long_is_ended(mark):
    with pytest.raises(ExecutionError, match=r"nothing was printed for 0.3 s") as caught:
        call("echo a; sleep 0.1; echo b; sleep 60", idle_seconds=0.3)
    assert caught.value.state is RunState.IDLE_TIMEOUT
    assert marked_processes(mark) == []


def test_a_program_that_goes_on_printing_is_not():
    output, _, _ = call("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done", idle_seconds=5)
    assert output.split() == ["1", "2", "3", "4", "5", "6"]


def test_a_timeout_ends_the_program(mark):
    with pytest.raises(ExecutionError, match=r"the time limit of 0.2 s was reached"):
        call("sleep 60", timeout=0.2)
    assert marked_processes(mark) == []


def test_a_cancelled_task_ends_the_program(mark):
    async def main() -> None:
        task = asyncio.create_task(run_cli(["sleep", "60"]))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert marked_processes(mark) == []


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(ExecutionError, match="'nosuch-program'"):
        asyncio.run(run_cli(["nosuch-program"]))


@pytest.mark.parametrize("argv", ["echo hi", [], None, [1], [b"x"]])
def test_what_is_no_argument_vector_is_refused(argv):
    with pytest.raises(ValueError, match=r"argv|command"):
        asyncio.run(run_cli(argv))


def test_sixteen_floods_at_once_stay_within_twice_the_bound():
    environment = {**os.environ, BOUND_VARIABLE: str(1024 * 1024)}
    done = subprocess.run(
        [sys.executable, str(CHILDREN / "cli_memory.py")], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) <= 16 * 2 * 1024 * 1024 + 16 * 1024 * 1024
