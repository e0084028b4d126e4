"""Whole files: writing without leaving incomplete files behind, and reading within limits."""

from __future__ import annotations

import errno
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from milpbn.errors import MilpbnError, ModelFileError, OptionError, OutputError

MAX_TEXT = 2**29
"""Largest size of a model, structure, constraint or results file, in bytes."""

_PIECE = 2**24

# Errors that reading a file with wrong or missing entries may raise.
_DAMAGE = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    zipfile.BadZipFile,
    zlib.error,
    MilpbnError,
)


def write_whole(path: str | Path, data: bytes | str) -> None:
    """Write a file under a temporary name in the same folder, then rename it."""
    with writing_whole(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def writing_whole(
    path: str | Path, draft: Path | None = None, *, goes_on: bool = False
) -> Iterator[BinaryIO]:
    """A file to write piece by piece; it appears under its name once it is complete.

    If the block fails, nothing is left behind, unless there is a draft.

    Parameters
    ----------
    path
        The name of the file.
    draft
        Its name until it is complete. A draft that has any content stays behind if the block fails
        or is killed, so that a later one can go on with it, but not if it could not be written.
    goes_on
        Whether to open an existing draft as it is, for reading and writing.
    """
    path = Path(path)
    special = path.exists() and not (path.is_file() or path.is_dir())
    # A device or a pipe is written to, not replaced.
    place = path if special else draft or path.with_name(f".milpbn-{secrets.token_hex(6)}.tmp")
    kept = draft is not None and not special
    try:
        try:
            if goes_on and not special:
                place.touch()
            with open(place, "r+b" if goes_on and not special else "wb") as file:
                yield file
            if not special:
                os.replace(place, path)
        except OSError:
            kept = False
            raise
        finally:
            if not special and not (kept and place.exists() and place.stat().st_size):
                place.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def check_writable(path: str | Path) -> None:
    """Raise now if `write_whole` would fail at the end of a long run."""
    path = Path(path)
    if path.is_dir():
        raise OptionError(f"cannot write {path}: it is a folder")
    if path.exists() and not path.is_file():
        # A device (/dev/null, /dev/stdout) can be written to even if its folder cannot.
        if not os.access(path, os.W_OK):
            raise OptionError(f"cannot write {path}: no permission")
        return
    if not path.parent.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise OptionError(f"cannot write {path}: no permission to write in {path.parent}")


def read_limited(path: str | Path, most: int = MAX_TEXT) -> bytes:
    """Read a file of at most this many bytes; a larger one, or one without an end, is an error."""
    with open(path, "rb") as file:
        size, parts = os.fstat(file.fileno()).st_size, []
        # A device or a pipe has the size 0. Not read(most): it reserves that much memory at once.
        piece = max(size + 1, _PIECE)
        while size <= most and (part := file.read(piece)):
            parts.append(part)
            size = max(size, sum(map(len, parts)))
    if size > most:
        raise OSError(errno.EFBIG, f"larger than the limit of {most // 2**20} MiB")
    return b"".join(parts)


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keep other runs from using a file, which is created if it does not exist.

    Where files cannot be locked (on Windows and on some network drives), nothing happens.
    """
    try:
        file = open(path, "ab")  # noqa: SIM115, it stays open as long as the lock
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    with file:
        _lock(file, path)
        yield


@contextmanager
def reserved(path: str | Path | None) -> Iterator[None]:
    """Keep other runs from writing a file that is replaced as a whole, so cannot be locked itself.

    The lock is on a file beside it, which is removed at the end. If the process is killed, the
    system gives up the lock, and the next run takes over the file.
    """
    if path is None or (Path(path).exists() and not Path(path).is_file()):
        yield  # a device is not replaced
        return
    lock = Path(f"{Path(path).resolve()}.lock")
    while True:
        try:
            file = open(lock, "ab")  # noqa: SIM115, it stays open as long as the lock
        except OSError:
            yield  # the file itself cannot be written either, which its writer reports
            return
        with file:
            _lock(file, path)
            # The run before may have removed the lock file after it was opened here.
            try:
                if not os.path.samestat(os.fstat(file.fileno()), os.stat(lock)):
                    continue
            except FileNotFoundError:
                continue
            try:
                yield
            finally:
                # While it is locked; where open files cannot be removed, it stays behind.
                with suppress(OSError):
                    lock.unlink()
            return


def _lock(file: BinaryIO, path: str | Path) -> None:
    """Lock an open file until it is closed; `path` is what the error names."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OptionError(
            f"{path} is in use by another run; wait for its end, or choose another file"
        ) from None
    except (ImportError, OSError):
        pass


def read_marked_json(path: str | Path, versions: Mapping[str, int]) -> dict[str, Any]:
    """Read a JSON object that carries a format mark and a version.

    Parameters
    ----------
    path
        The file.
    versions
        The marks that are accepted, each with the version that can be read.
    """
    try:
        text = read_limited(path).decode("utf-8")
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path} is not a milpbn model: it is not a text file") from None
    try:
        content = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is not a milpbn model, or is truncated: not valid JSON ({error})"
        ) from None
    mark = content.get("format") if isinstance(content, dict) else None
    if not isinstance(mark, str) or mark not in versions:
        wanted = " or ".join(map(repr, versions))
        other = f"its format is {mark!r}, not" if isinstance(mark, str) else "it has no format mark"
        raise ModelFileError(f"{path} is not a milpbn model of this kind: {other} {wanted}")
    if content.get("version") != versions[mark]:
        raise ModelFileError(
            f"{path} has version {content.get('version')!r} of the format {mark!r}; this milpbn "
            f"reads version {versions[mark]}"
        )
    return dict(content)


@contextmanager
def naming_damage(path: str | Path, what: str) -> Iterator[None]:
    """Turn errors from wrong or missing entries of a file into one that names the file."""
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, MilpbnError) and str(error).startswith(str(path)):
            raise
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(f"{path} is a damaged {what}: {reason}") from None


def plain(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content as it would be read from a file."""
    out: dict[str, Any] = json.loads(json.dumps(content))
    return out
