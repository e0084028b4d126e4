"""The sparse model straight into HiGHS: no Python object per coefficient."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from milpbn.errors import OptionError, SolverError
from milpbn.files import check_writable
from milpbn.formulation.model import SparseModel

MODEL_SUFFIXES = {".lp": "\\ ", ".mps": "* "}
"""File kinds that HiGHS writes, with how each begins a comment line."""


def check_highs(status: Any, what: str) -> None:
    """HiGHS reports errors as return codes; turn them into an exception."""
    import highspy

    if status == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS could not {what}")


def pass_model(highs: Any, model: SparseModel) -> None:
    """Hand the model to a ``highspy.Highs`` object."""
    import highspy

    lengths = np.concatenate([np.diff(b.starts) for b in model.rows])
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    integrality = [np.full(len(b), int(b.integer), dtype=np.int32) for b in model.columns]
    status = highs.passModel(
        model.n_columns,
        model.n_rows,
        model.n_nonzeros,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize),
        0.0,
        *(
            np.concatenate([getattr(b, a) for b in model.columns])
            for a in ("cost", "lower", "upper")
        ),
        *(np.concatenate([getattr(b, a) for b in model.rows]) for a in ("lower", "upper")),
        starts,
        np.concatenate([b.index for b in model.rows]),
        np.concatenate([b.value for b in model.rows]),
        np.concatenate(integrality),
    )
    check_highs(status, "take the model")


def write_model(model: SparseModel, path: str | Path) -> None:
    """Write an LP or MPS file with readable names and a legend of them as comments."""
    import highspy

    path = Path(path)
    if path.suffix not in MODEL_SUFFIXES:
        raise OptionError(
            f"{path}: a model file ends in {' or '.join(MODEL_SUFFIXES)}, not {path.suffix!r}"
        )
    check_writable(path)
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    check_highs(highs.setOptionValue("output_flag", False), "be silent")
    pass_model(highs, model)
    for k, name in enumerate(model.column_names()):
        check_highs(highs.passColName(k, name), f"name column {name}")
    for k, name in enumerate(model.row_names()):
        check_highs(highs.passRowName(k, name), f"name row {name}")
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            raw, final = Path(folder) / f"raw{path.suffix}", Path(folder) / "final"
            check_highs(highs.writeModel(str(raw)), f"write {path}")
            mark = MODEL_SUFFIXES[path.suffix]
            with final.open("w", encoding="utf-8") as out, raw.open(encoding="utf-8") as body:
                out.writelines(f"{mark}{line}\n" for line in model.legend())
                out.writelines(body)
            os.replace(final, path)
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror or error}") from None
