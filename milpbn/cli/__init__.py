"""The command line. Heavy packages are imported only when a command runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from milpbn.cli.interrupts import Interrupts

if TYPE_CHECKING:
    from milpbn.cli.app import cli

__all__ = ["cli", "main"]


def main() -> NoReturn:
    """Run the command line and exit with its exit code."""
    interrupts = Interrupts()
    interrupts.install()
    try:
        from milpbn.cli.app import run
    except KeyboardInterrupt:
        sys.exit(130)
    run(interrupts)


def __getattr__(name: str) -> Any:
    if name == "cli":
        from milpbn.cli.app import cli

        return cli
    raise AttributeError(f"module 'milpbn.cli' has no attribute {name!r}")
