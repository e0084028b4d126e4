"""Small tables for tests of encoders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from milpbn.datasets.table import Table
from milpbn.encoding import Encoder


def make_table(
    features: dict[str, list[Any]],
    target: str,
    numeric: tuple[str, ...] = (),
    n_train: int | None = None,
    **options: Any,
) -> Table:
    """A table with one letter a class label."""
    frame = pd.DataFrame(
        {c: pd.Series(v, dtype=float if c in numeric else object) for c, v in features.items()}
    )
    return Table(
        name="toy",
        features=frame,
        targets=pd.Series(list(target), name="class"),
        numeric=numeric,
        is_train=None if n_train is None else np.arange(len(target)) < n_train,
        **options,
    )


def states(encoder: Encoder, name: str) -> tuple[str, ...]:
    """The states of a variable."""
    return next(v.states for v in encoder.variables if v.name == name)
