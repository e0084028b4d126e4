"""The end of a command: the report on stdout and the files, none of which stops the others."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Self

import click

from milpbn.errors import OutputError
from milpbn.words import visible


class Outputs:
    """The report and the files of a command, used as a context manager.

    A file that cannot be written is saved in the folder for temporary files instead. Whatever
    went wrong is raised at the end, after everything else has been printed and written.

    Parameters
    ----------
    quiet
        Do not say which files were written.
    tell
        Where to say it; by default stderr.
    """

    def __init__(self, *, quiet: bool = False, tell: Callable[[str], None] | None = None) -> None:
        self._quiet = quiet
        self._tell = tell or say
        self._failed: list[str] = []
        self._stdout: OSError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        if self._stdout is not None:
            for line in self._failed:
                say(f"Error: {line}")
            raise self._stdout
        if self._failed:
            raise OutputError("\n".join(self._failed))

    def report(self, text: str) -> None:
        """Print a part of the report on stdout."""
        self._print(partial(show, text))

    def data(self, path: str | None, text: str | bytes) -> None:
        """Write data to a file; without a path, print them on stdout, as they are."""
        if path:
            from milpbn.files import write_whole

            self.write(path, lambda file: write_whole(file, text))
        else:
            self._print(partial(click.echo, text, nl=False))

    def write(self, path: str | None, write: Callable[[str], Sequence[object] | None]) -> None:
        """Write a file, if there is a path, and say so.

        `write` returns the names of the files, if it wrote others than the one it was given.
        """
        if not path:
            return
        try:
            files = write(path) or (path,)
        except OutputError as error:
            self._failed.append(f"{error}; {_save_elsewhere(path, write)}")
        else:
            for file in () if self._quiet else files:
                self._tell(f"wrote {file}")

    def _print(self, text: Callable[[], None]) -> None:
        try:
            text()
        except OSError as error:  # a full disk, or a reader that closed the pipe
            self._stdout = error


def show(text: str) -> None:
    """Print a text for people on stdout. Data, such as CSV, are printed as they are instead."""
    click.echo(visible(text))


def say(line: str) -> None:
    """Print a line on stderr; if that is not possible, the result is still worth delivering."""
    with suppress(OSError):
        click.echo(visible(line), err=True)


def _save_elsewhere(path: str, write: Callable[[str], Sequence[object] | None]) -> str:
    try:
        folder = Path(tempfile.mkdtemp(prefix="milpbn-"))
    except OSError:
        return "choose another folder"
    other = str(folder / Path(path).name)
    try:
        files = write(other) or (other,)
    except OutputError:
        shutil.rmtree(folder, ignore_errors=True)
        return "choose another folder"
    return f"saved as {', '.join(map(str, files))} instead"
