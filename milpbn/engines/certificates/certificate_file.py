"""The file of a certificate: compressed lines that a later run can continue."""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from milpbn.errors import OptionError
from milpbn.messages import Message, option

# Bytes that are read at once.
_PIECE = 2**20


def draft_of(path: str | Path) -> Path:
    """Where a certificate is written until it is complete, if a killed run may be continued."""
    return Path(f"{path}.part")


class CertificateFile:
    """Compressed lines.

    At a mark, what was written is a complete gzip file; another one follows. Together, they are a
    gzip file, too.

    Parameters
    ----------
    file
        Where to write. To continue, it can be read and cut off, too.
    path
        The name of the complete certificate.
    """

    def __init__(self, file: BinaryIO, path: str | Path) -> None:
        self._file, self._path = file, Path(path)
        self._length, self._digest = 0, hashlib.sha256()
        self._compressor = _new_compressor()
        self._pending = False

    def resume(self, length: int, sha256: str) -> None:
        """Continue after the first bytes of an earlier certificate, complete or not."""
        if not self._begins_with(self._file, length, sha256):
            self._copy_complete(length, sha256)
        self._file.truncate(length)

    def _begins_with(self, file: BinaryIO, length: int, sha256: str) -> bool:
        """Whether the first bytes of a file are those; they then count as written."""
        file.seek(0)
        self._length, self._digest = length, hashlib.sha256()
        left = length
        while left and (piece := file.read(min(left, _PIECE))):
            left -= len(piece)
            self._digest.update(piece)
        return left == 0 and self._digest.hexdigest() == sha256

    def _copy_complete(self, length: int, sha256: str) -> None:
        """Copy the first bytes of the complete certificate that the earlier run has left."""
        with suppress(FileNotFoundError), open(self._path, "rb") as complete:
            if self._begins_with(complete, length, sha256):
                complete.seek(0)
                self._file.seek(0)
                for at in range(0, length, _PIECE):
                    self._file.write(complete.read(min(length - at, _PIECE)))
                return
        raise OptionError(
            Message(
                f"cannot continue the certificate: neither {self._path} nor {draft_of(self._path)} "
                f"begins with the {length:,} bytes that belong to the checkpoint; give the file of "
                "the earlier run as ",
                option("certificate"),
                ", or leave it out",
            )
        )

    def write(self, line: bytes) -> None:
        """Write a line."""
        self._add(self._compressor.compress(line))
        self._pending = True

    def _add(self, data: bytes) -> None:
        self._length += len(data)
        self._digest.update(data)
        self._file.write(data)

    def mark(self) -> tuple[int, str]:
        """The number of bytes so far, all of which are in the file, and their checksum."""
        self.close()
        return self._length, self._digest.hexdigest()

    def close(self) -> None:
        """Complete what was compressed; more may follow."""
        if self._pending:
            self._add(self._compressor.flush())
            self._compressor, self._pending = _new_compressor(), False
        self._file.flush()


def _new_compressor() -> zlib._Compress:
    return zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)  # in the format of gzip
