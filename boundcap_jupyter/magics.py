"""%%bounded, %bounded and %bounded_show: parse the line, call the API, say what came of it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from string import Template
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, completion_matcher
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.utils.text import DollarFormatter

from boundcap_jupyter import config
from boundcap_jupyter.api import run
from boundcap_jupyter.completion import complete
from boundcap_jupyter.core.limits import OutputLimits
from boundcap_jupyter.failures import one_line, short_error, shorten_interrupt
from boundcap_jupyter.history import earlier_run, runs
from boundcap_jupyter.jobs import Job, start
from boundcap_jupyter.options import OPTIONS, Expand, MagicOptions, OptionError, parse
from boundcap_jupyter.running.environment import CommandFailed, ExecResult, ExecutionError
from boundcap_jupyter.running.settings import MAX_BYTES, MAX_LINES, SettingError
from boundcap_jupyter.running.sweep import sweep_in_background
from boundcap_jupyter.show.display import choose_display, show

#: An InteractiveShell. IPython is typed in part only, and each version in another part.
Shell = Any

_NAME = "bounded"
_SHOW = "bounded_show"
#: Where the options complete: a line of the cell that starts with the magic, up to the cursor.
_LINE = re.compile(rf"\s*%%?{_NAME}(\s.*)", re.DOTALL)
_MATCHER = f"{__name__}.{_NAME}"
#: Above IPython's own matchers, all at 0, which would put their words beside ours.
_PRIORITY = 100

_TEMPLATE = """Run a shell command and show its output live, in bounded space; keep the complete output in a file.

    %%bounded [options]
    a script for bash, of any length

    %bounded [options] command

Examples

    %%bounded --timeout 2h --out build
    make -j8 && make test

    %bounded --lines 20 --cwd ~/project git log --stat

    %%bounded --shell python3 --stdin data.csv
    import sys
    print(sum(1 for line in sys.stdin))

    %%bounded --bg --out server
    python -m http.server

    %%bounded --env CUDA_VISIBLE_DEVICES={{device}} --no-raise-error
    ./train --epochs 300

Options

{options}

    An option is written `--name value` or `--name=value`. If one is repeated, the last counts.

The line
    Options end at the first word that is not one, or at `--`. The rest of a %bounded line is the command. It is
    expanded as `!` expands: $name and {{expression}} are Python, $$name is the shell's $name.
    A line that ends in ? is a question to IPython, not a command: write it as a cell.
    The body of a %%bounded cell is not expanded, as with %%bash: $name there is the shell's.
    Values of options may be quoted as in a shell. $name and {{expression}} in them are Python, or else environment
    variables; in 'single quotes' nothing is expanded.

Afterwards
    _exit_code   the exit code, 128 + n if signal n ended the command, also when it was stopped or timed out; None if
                 it never started
    VAR          of --out: the result, with .state, .exit_code, .text, .truncation, .duration and .spill_path, and
                 with .stderr and .stderr_view of --stderr separate
    Both are set before an error is raised. An exit code other than 0, a timeout and a stop raise an error, so that
    Run All stops; --no-raise-error leaves the decision to the next cell. An interrupt is always raised.

In the background
    With --bg the cell is over at once and its value is the job, which VAR gets too: job.wait() waits and gives the
    result, or raises (for an exit code only without --no-raise-error), job.cancel() stops the command, job.done and
    job.state tell of it. _exit_code is None.
"""


def _help() -> str:
    left = [f"{option.name} {option.metavar}".rstrip() for option in OPTIONS]
    width = max(map(len, left))
    options = "\n".join(f"    {name:<{width}}  {option.help}" for name, option in zip(left, OPTIONS, strict=True))
    return _TEMPLATE.format(options=options)


HELP = _help()


@magics_class
class BoundedMagics(Magics):
    """The magics of one shell."""

    shell: Shell

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def bounded(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> Job | None:
        try:
            default = OutputLimits(MAX_BYTES.get(), MAX_LINES.get())
            options, command = parse(line, _expander(self.shell, local_ns), default)
        except (OptionError, SettingError) as error:
            raise UsageError(str(error)) from None
        if options.help:
            print(HELP)  # noqa: T201 - printing it is what was asked for
            return None
        if cell is not None:
            if command:
                raise UsageError(
                    f"%%{_NAME} takes only options on its line, not {one_line(command.split()[0])!r}: "
                    f"put the command below it, or use %{_NAME}"
                )
            command = cell
        elif not command:
            raise UsageError(f"%{_NAME} needs a command after its options (%{_NAME} --help shows them)")
        else:
            # Two frames up, behind run_line_magic, is the code that holds the line.
            command = self.shell.var_expand(command, depth=2)
        if options.background:
            return self._start(command, options)
        self._run(command, options)
        return None

    bounded.__doc__ = HELP

    @line_magic
    def bounded_show(self, line: str) -> None:
        """Show earlier runs, those of other kernels and of kernels that died included.

            %bounded_show         list them, the newest first
            %bounded_show ID      show the last view of one, its totals and where its complete output is

        The beginning of an ID is enough where no other run shares it. Only runs that took two seconds or printed more
        than their view leave files and are here. `boundcap_jupyter.runs()` gives the same to Python.
        """
        wanted = line.strip()
        try:
            show(earlier_run(wanted) if wanted else runs())
        except (LookupError, SettingError) as error:
            raise UsageError(one_line(str(error.args[0]))) from None

    def _run(self, command: str, options: MagicOptions) -> None:
        limits = options.limits
        display = choose_display(command, clears_cell=_is_whole_cell(self.shell), retain=limits.retain)
        try:
            result = run(command, check=True, display=display, **_arguments(options))
        except (CommandFailed, ExecutionError) as error:
            self._record(error.result, options)
            if options.raise_error:
                # The cause, if there is one, is for a debugger; the chain through this package is not.
                raise short_error(error, limits.retain) from error.__cause__
        except KeyboardInterrupt as interrupt:
            so_far = getattr(interrupt, "result", None)
            self._record(so_far, options)
            if so_far is not None:
                shorten_interrupt(interrupt, so_far, limits.retain)
            raise
        except ValueError as error:
            raise UsageError(one_line(str(error))) from error
        else:
            self._record(result, options)

    def _start(self, command: str, options: MagicOptions) -> Job:
        """Start the command and show its panel: wherever the magic stands, and whatever becomes of its value."""
        try:
            job = start(command, check=options.raise_error, **_arguments(options))
        except ValueError as error:
            raise UsageError(one_line(str(error))) from error
        self.shell.user_ns["_exit_code"] = None
        if options.out is not None:
            self.shell.user_ns[options.out] = job
        job.show()
        return job

    def _record(self, result: ExecResult | None, options: MagicOptions) -> None:
        """Set the variables that tell of this run; None where an interrupt came before there was anything to tell."""
        self.shell.user_ns["_exit_code"] = result.exit_code if result is not None else None
        if options.out is not None:
            self.shell.user_ns[options.out] = result


def _arguments(options: MagicOptions) -> dict[str, Any]:
    """What the options say, as arguments that `run` and `start` share."""
    limits = options.limits
    return {
        "max_bytes": limits.max_bytes,
        "max_lines": limits.max_lines,
        "retain": limits.retain,
        "spill": options.spill,
        "cwd": options.cwd,
        "env": options.env,
        "timeout": options.timeout,
        "encoding": options.encoding,
        "stderr": options.stderr,
        "idle_timeout": options.idle_timeout,
        "stdin": options.stdin,
        "shell": options.shell,
        "pty": options.pty,
        "columns": options.columns,
        "on_held": options.on_held,
        "on_spill_failure": options.on_spill_failure,
        "max_spill_bytes": options.max_spill_bytes,
    }


class _ValueFormatter(DollarFormatter):
    """IPython's expansion, with ${name} as a shell writes it."""

    def parse(self, text: str) -> Iterator[tuple[Any, Any, Any, Any]]:
        for literal, field, spec, conversion in super().parse(text):
            braces = literal.endswith("$") and field is not None and field.isidentifier()
            yield literal[:-1] if braces else literal, field, spec, conversion


def _expander(shell: Shell, local_ns: Mapping[str, Any] | None) -> Expand:
    """Expands Python names and expressions in the value of an option, and environment variables that no name hides."""

    def expand(text: str) -> str:
        if "$" not in text and "{" not in text:
            return text
        names = {**os.environ, **shell.user_ns, **(local_ns or {})}
        try:
            return str(_ValueFormatter().vformat(text, (), names))
        except Exception:  # noqa: BLE001 - the expression is the user's; as with `!`, what fails is meant as it stands
            return text

    return expand


def _lookup(shell: Shell) -> Expand:
    """As `_expander`, but names alone: pressing Tab must not run the user's expressions."""
    return lambda text: Template(text).safe_substitute({**os.environ, **shell.user_ns})


def _is_whole_cell(shell: Shell) -> bool:
    """True if the cell that runs is this magic and nothing else, so that clearing the cell takes no other output away.

    Judged by the request that the kernel answers: under %%time or %%capture, in a loop or a function, the code around
    the magic is the cell. False where there is no such request, as in a terminal.
    """
    request: Mapping[str, Any] = shell.get_parent() if hasattr(shell, "get_parent") else {}
    code = request.get("content", {}).get("code")
    if not isinstance(code, str):
        return False
    try:
        statements = ast.parse(shell.transform_cell(code)).body
    except SyntaxError:
        return False
    return len(statements) == 1 and _is_call_of_magic(statements[0])


def _is_call_of_magic(statement: ast.stmt) -> bool:
    """True for `get_ipython().run_line_magic("bounded", …)` and its twin for cells: what IPython makes of a magic."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr in ("run_line_magic", "run_cell_magic")
        and any(isinstance(name, ast.Constant) and name.value == _NAME for name in statement.value.args[:1])
    )


def _matcher(shell: Shell) -> Any:
    """A matcher for IPython's completer: what `complete` finds on the line of the magic, and then nothing else."""

    def matcher(context: CompletionContext) -> dict[str, Any]:
        line = _LINE.match(context.text_until_cursor)
        candidates = complete(line[1], _lookup(shell)) if line else None
        if candidates is None:
            return {"completions": []}
        return {
            "completions": [SimpleCompletion(text=text, type="param") for text in candidates.texts],
            "matched_fragment": candidates.typed,
            "ordered": True,
            "suppress": True,
        }

    return completion_matcher(identifier=_MATCHER, priority=_PRIORITY, api_version=2)(matcher)


def load_ipython_extension(shell: Shell) -> None:
    """Called by `%load_ext boundcap_jupyter`."""
    unload_ipython_extension(shell)
    config.configure(shell)
    shell.register_magics(BoundedMagics)
    sweep_in_background()
    shell.Completer.custom_matchers.append(_matcher(shell))


def unload_ipython_extension(shell: Shell) -> None:
    """Called by `%unload_ext boundcap_jupyter`: takes away the magics and their completion."""
    for magics in shell.magics_manager.magics.values():
        # Whoever defined a magic of the same name since keeps it.
        for name in (_NAME, _SHOW):
            if isinstance(getattr(magics.get(name), "__self__", None), BoundedMagics):
                del magics[name]
    config.withdraw(shell)
    shell.magics_manager.registry.pop(BoundedMagics.__name__, None)
    matchers = shell.Completer.custom_matchers
    matchers[:] = [matcher for matcher in matchers if getattr(matcher, "matcher_identifier", None) != _MATCHER]
