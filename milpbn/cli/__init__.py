"""The command line. Heavy packages are imported only when a command runs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from milpbn.cli.interrupts import Interrupts

if TYPE_CHECKING:
    from milpbn.cli.app import cli

__all__ = ["cli", "main"]


def main() -> NoReturn:
    """Run the command line and exit with its exit code."""
    _open_standard_streams()
    interrupts = Interrupts()
    try:
        interrupts.install()
        from milpbn.cli.app import run
    except KeyboardInterrupt:
        interrupts.close()  # Python takes a while to end
        sys.exit(130)
    run(interrupts)


def _open_standard_streams() -> None:
    """Connect streams that are closed (``milpbn ... >&-``) with nothing.

    Otherwise the first file that is opened would take the number of such a stream, and libraries
    that print would write into it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115


def __getattr__(name: str) -> Any:
    if name == "cli":
        from milpbn.cli.app import cli

        return cli
    raise AttributeError(f"module 'milpbn.cli' has no attribute {name!r}")
