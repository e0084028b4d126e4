"""The command line. Command modules import heavy rooms only when they run."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from milpbn import __version__
from milpbn.cli.datasets import datasets
from milpbn.cli.inspect import inspect
from milpbn.cli.predict import predict
from milpbn.cli.solve import solve
from milpbn.errors import MilpbnError

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="milpbn %(version)s")
def cli() -> None:
    """Learn Bayesian network classifiers exactly, and see how good the answer is.

    \b
    Exit codes:
      0    optimal, or within the gap that was asked for
      1    an error; the message on stderr says what to do
      2    a wrong option
      3    stopped (time limit, Ctrl-C) with a structure whose gap is still open
      130  interrupted before there was a structure
    """


for command in (solve, inspect, predict, datasets):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command line; errors become one message and an exit code."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted before there was a result", err=True)
        code = EXIT_INTERRUPTED
    except MilpbnError as error:
        click.echo(f"error: {error}", err=True)
        code = EXIT_ERROR
    except BrokenPipeError:
        # The reader of our output went away (`milpbn ... | head`): nothing more to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    _exit(code if isinstance(code, int) else 0)


def _as_interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    # A scheduler's SIGTERM is treated like Ctrl-C: the best structure is kept.
    raise KeyboardInterrupt


def _exit(code: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    engine = sys.modules.get("milpbn.engines.highs")
    if engine is not None and engine.has_abandoned_runs():
        # A solver thread that does not return would keep the process alive or crash it.
        os._exit(code)
    sys.exit(code)
