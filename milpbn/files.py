"""Writing files so that no incomplete file is left behind."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from milpbn.errors import OptionError


def write_whole(path: str | Path, data: bytes | str) -> None:
    """Write a file under a temporary name in the same folder, then rename it."""
    path = Path(path)
    content = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(f".milpbn-{secrets.token_hex(6)}.tmp")
    try:
        try:
            if path.exists() and not (path.is_file() or path.is_dir()):
                # A device or a pipe (/dev/stdout) is written to, not replaced.
                path.write_bytes(content)
                return
            temporary.write_bytes(content)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror or error}") from None


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
