"""The command group, and how errors, Ctrl-C and a closed pipe end a command."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any, NoReturn

import click

from milpbn import __version__
from milpbn.cli.arcs import arcs
from milpbn.cli.card import card
from milpbn.cli.check import check
from milpbn.cli.datasets import datasets
from milpbn.cli.doctor import doctor
from milpbn.cli.drift import drift
from milpbn.cli.evaluate import evaluate
from milpbn.cli.explain import explain
from milpbn.cli.export import export
from milpbn.cli.grid import grid
from milpbn.cli.grouping import Commands
from milpbn.cli.html import report
from milpbn.cli.inspect import inspect
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.jkl import solve_scores
from milpbn.cli.learn import learn
from milpbn.cli.mdc.group import mdc
from milpbn.cli.missing_curve import missing_curve
from milpbn.cli.outputs import say
from milpbn.cli.path import path
from milpbn.cli.predict import predict
from milpbn.cli.scores import scores
from milpbn.cli.solve import solve
from milpbn.cli.stability import stability
from milpbn.cli.update import update
from milpbn.cli.verify import verify
from milpbn.errors import (
    CacheWarning,
    ClusterWarning,
    DataWarning,
    FontWarning,
    MilpbnError,
    OutputWarning,
    ProofWarning,
)
from milpbn.words import visible

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130

_EXIT_CODES = """
\b
Exit codes:
  0    success; for `solve` and `path`: optimal, or within the requested gap
  1    error; the message on stderr says what to do
  2    invalid option
  3    stopped early (time limit, Ctrl-C) with a partial result, such as an open gap
  4    `milpbn verify` found a disagreement
  130  interrupted before there was a result
"""

_LONGEST_MESSAGE = 4000
_NOTES = (CacheWarning, ClusterWarning, DataWarning, FontWarning, OutputWarning, ProofWarning)


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print milpbn's own warnings like notes, and others as Python does."""
    with warnings.catch_warnings():
        as_python_does = warnings.showwarning

        def show(message: Any, category: Any, *where: Any, **more: Any) -> None:
            if issubclass(category, _NOTES):
                say(f"note: {message}")
            else:
                as_python_does(message, category, *where, **more)

        warnings.showwarning = show
        for category in _NOTES:
            warnings.simplefilter("always", category)
        yield


def _readable(message: str) -> str:
    """A message for a terminal; a value that it repeats may be as long as a file."""
    more = len(message) - _LONGEST_MESSAGE
    rest = f" ... ({more} more characters)" if more > 0 else ""
    return visible(message[:_LONGEST_MESSAGE]) + rest


def _renamed(args: list[str]) -> list[str]:
    """Two old uses of `solve` are commands of their own now."""
    if args[0] != "solve":
        return args
    joined = ("--jkl=", "--p=")
    parts = [p for arg in args for p in (arg.split("=", 1) if arg.startswith(joined) else [arg])]
    given = dict(pairwise(parts))
    if "--jkl" in given:
        parts.remove("--jkl")
        old, new = "--jkl", "solve-scores"
    elif "," in given.get("--p", ""):
        old, new = "several values of --p", "grid"
    else:
        return args
    if "--quiet" not in args:
        say(f"note: `milpbn solve` with {old} is now `milpbn {new}`")
    return [new, *parts[1:]]


class _Commands(Commands):
    """The commands; milpbn's errors become messages, without a traceback."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See :class:`click.Group`."""
        return super().resolve_command(ctx, _renamed(args))

    def invoke(self, ctx: click.Context) -> Any:
        """See :class:`click.Group`."""
        try:
            with _warnings_as_notes():
                return super().invoke(ctx)
        except click.ClickException as error:
            vars(error)["message"] = _readable(error.message)
            raise
        except MilpbnError as error:
            raise click.ClickException(_readable(error.on_command_line())) from error
        except MemoryError as error:
            raise click.ClickException(
                "out of memory; lower --max-parents, or use fewer rows or columns"
            ) from error


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXIT_CODES,
)
@click.version_option(__version__, message="milpbn %(version)s")
def cli() -> None:
    """Learn Bayesian network classifiers exactly, with a bound on the optimal score."""


cli.add_section("Learn", (solve, learn, grid, path, evaluate, mdc))
cli.add_section("Ask a model", (inspect, verify, arcs, stability, explain, card, report))
cli.add_section("Use a model", (predict, export, update, drift))
cli.add_section("Tools", (datasets, scores, solve_scores, missing_curve, doctor))
cli.add_command(check)  # the old spelling of `verify --certificate`


def run(interrupts: Interrupts) -> NoReturn:
    """Run the command line; turn errors into a message and an exit code."""
    try:
        code: Any = cli.main(prog_name="milpbn", obj=interrupts, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted before there was a result.", err=True)
        code = EXIT_INTERRUPTED
    except OSError as error:
        # Other files are checked where they are opened, so an error of the system is about stdout.
        told = f"cannot write the output: {error.strerror}" if error.errno else _not_loaded(error)
        click.echo(f"Error: {told}", err=True)
        code = EXIT_ERROR
    except ImportError as error:
        click.echo(f"Error: {_not_loaded(error)}", err=True)
        code = EXIT_ERROR
    except SystemExit as end:
        # The reader closed the pipe (`milpbn ... | head`): there is nothing left to report.
        code = end.code
    interrupts.close()
    _exit(code if isinstance(code, int) else 0)


def _not_loaded(error: Exception) -> str:
    return (
        f"a library cannot be loaded: {error}. Give more memory, or look at the installation with "
        "`milpbn doctor`"
    )


def _exit(code: int) -> NoReturn:
    # Shutting down the interpreter takes half a second or more with these libraries, and a
    # solver thread that is still running could crash it. All files are closed by now; only the
    # semaphores of worker processes would outlive this process.
    workers: Any = sys.modules.get("multiprocessing.util")
    if workers is not None:
        workers._run_finalizers(0)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)
