"""The command line. Modules import heavy rooms only when a command runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from milpbn.cli.app import cli

__all__ = ["cli", "main"]


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    try:
        from milpbn.cli.app import run
    except KeyboardInterrupt:
        # Ctrl-C in the first tenth of a second, before anything could catch it.
        sys.exit(130)
    run()


def __getattr__(name: str) -> Any:
    if name == "cli":
        from milpbn.cli.app import cli

        return cli
    raise AttributeError(f"module 'milpbn.cli' has no attribute {name!r}")
