"""Results that are kept from run to run: a CSV file with one row per measurement."""

import csv
from collections.abc import Mapping
from pathlib import Path

OUT = Path(__file__).resolve().parents[2] / "build" / "bench"


class Records:
    """Measurements in a CSV file, each written as soon as it is made.

    Parameters
    ----------
    file
        The file; created with the first row.
    fields
        Its columns.
    """

    def __init__(self, file: Path, fields: tuple[str, ...]) -> None:
        self.file = file
        self.fields = fields

    def rows(self) -> list[dict[str, str]]:
        """All rows of this run and of earlier ones."""
        if not self.file.exists():
            return []
        with self.file.open(newline="") as stream:
            return list(csv.DictReader(stream))

    def find(self, key: Mapping[str, str]) -> dict[str, str] | None:
        """The row with these values, if there is one."""
        found = (row for row in self.rows() if all(row[k] == v for k, v in key.items()))
        return next(found, None)

    def append(self, row: Mapping[str, str]) -> None:
        """Write one row."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = not self.file.exists()
        with self.file.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, self.fields)
            if new:
                writer.writeheader()
            writer.writerow(row)
