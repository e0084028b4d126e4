"""Reading and encoding generated CSV files: CPU seconds and memory, next to plain CSV readers.

The columns csv and pandas are the times of readers that only make strings: they decide nothing.
Each file is read in a process of its own, so that its peak memory is its own, too.
"""

import csv
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

from milpbn import Encoder
from milpbn.datasets import read_table
from milpbn.datasets.generators import wide


def _seconds(task: Callable[[], object]) -> float:
    began = time.process_time()
    task()
    return time.process_time() - began


def _frame(rows: int, numbers: int, categories: int, missing: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    label = rng.integers(4, size=rows)
    columns = {f"x{j}": rng.normal(size=rows) + 0.3 * (j % 3) * label for j in range(numbers)}
    states = np.array([f"s{j}" for j in range(10)], dtype=object)
    for j in range(categories):
        columns[f"c{j}"] = states[(rng.integers(7, size=rows) + (j % 4) * label) % 10]
    frame = pd.DataFrame(columns)
    if missing:
        frame = frame.mask(rng.random(frame.shape) < missing)
    return frame.assign(**{"class": label})


def _wide() -> pd.DataFrame:
    table = wide(seed=1)
    return table.features.join(table.targets)


FILES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, int]]] = {
    "60,000 x 196": (_wide, {}),
    "numbers": (lambda: _frame(280_000, 19, 0), {}),
    "categories": (lambda: _frame(1_000_000, 0, 30), {}),
    "mixed": (lambda: _frame(400_000, 10, 15), {}),
    "quoted": (lambda: _frame(400_000, 8, 15), {"quoting": csv.QUOTE_ALL}),
    "missing": (lambda: _frame(400_000, 10, 15, missing=0.03), {}),
}


def _write(name: str, path: Path) -> None:
    make, options = FILES[name]
    make().to_csv(path, index=False, **options)


def _milpbn(path: Path) -> tuple[float, float, float]:
    """Seconds for reading and for encoding, and the peak memory in MB."""
    began = time.process_time()
    table = read_table(path, "class")
    read = time.process_time()
    Encoder.fit(table).encode(table)
    encoded = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return read - began, encoded - read, peak


def _strings(path: Path) -> tuple[float, float]:
    """Seconds that csv.reader and pandas need for columns of strings."""
    with path.open(newline="", encoding="utf-8") as file:
        by_rows = _seconds(lambda: list(zip(*csv.reader(file), strict=True)))
    return by_rows, _seconds(lambda: pd.read_csv(path, dtype=str, keep_default_na=False))


def _alone(task: Callable[..., object], *arguments: object) -> object:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(task, *arguments).result()


def run() -> None:
    print("file              MB   read s  encode s  peak MB   csv s  pandas s")
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            path = Path(folder) / "rows.csv"
            _alone(_write, name, path)
            size = path.stat().st_size / 1e6
            read, encode, peak = _alone(_milpbn, path)
            by_rows, by_pandas = _alone(_strings, path)
            print(
                f"{name:<14}{size:>6.0f}{read:>9.2f}{encode:>10.2f}{peak:>9.0f}{by_rows:>8.2f}"
                f"{by_pandas:>10.2f}"
            )
