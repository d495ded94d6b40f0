"""`python -m boundcap_jupyter list` and `… sweep [--dry-run]`: the store from the command line."""

from __future__ import annotations

import argparse
import os
import sys

from boundcap_jupyter.history import runs
from boundcap_jupyter.running.settings import SettingError
from boundcap_jupyter.running.store import store_root
from boundcap_jupyter.running.sweep import sweep_as_set
from boundcap_jupyter.show.summary import number, size
from boundcap_jupyter.show.terminal.live import row_columns


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says and return the exit status: 0, or 2 for what is wrong with it or a setting."""
    parser = argparse.ArgumentParser(prog="python -m boundcap_jupyter", description="The files of earlier runs.")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("list", help="list earlier runs, the newest first")
    sweeping = commands.add_parser("sweep", help="remove the files of runs that are old enough")
    sweeping.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    options = parser.parse_args(arguments)
    if options.command is None:
        # What there is, where argparse would only name the argument that is missing.
        parser.print_help(sys.stderr)
        return 2
    try:
        text = _list() if options.command == "list" else _sweep(dry_run=options.dry_run)
    except SettingError as error:
        parser.error(str(error))
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has enough (`| head`). Python would say at its exit that it could not flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _list() -> str:
    return f"{runs().table(row_columns(sys.stdout))}\nin {store_root()}"


def _sweep(*, dry_run: bool) -> str:
    swept = sweep_as_set(dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    kept = f"{number(swept.kept)} runs of {size(swept.kept_bytes)} stay"
    return "\n".join(
        [*swept.removed, f"{verb} {number(len(swept.removed))} runs of {size(swept.removed_bytes)}; {kept}"]
    )


if __name__ == "__main__":
    sys.exit(main())
