"""The sparse model passed to HiGHS as arrays, without a Python object per coefficient."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.engines.monolithic.model import SparseModel
from milpbn.errors import OptionError, OutputError, SolverError
from milpbn.files import check_writable

# What results depend on. Later versions of HiGHS may have other defaults, so each is set.
_OPTIONS: dict[str, Any] = {
    "threads": 1,
    "parallel": "off",
    "random_seed": 0,
    "presolve": "choose",
    "solver": "choose",
    "simplex_strategy": 1,
    "simplex_scale_strategy": 2,
    "primal_feasibility_tolerance": 1e-7,
    "dual_feasibility_tolerance": 1e-7,
    "mip_feasibility_tolerance": 1e-6,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-6,
    "small_matrix_value": 1e-9,
    "user_objective_scale": 0,
    "user_bound_scale": 0,
}

MODEL_SUFFIXES = {".lp": "\\ ", ".mps": "* "}
"""Model files that HiGHS can write, by suffix, and the start of a comment line in each."""


def check_highs(status: Any, what: str) -> None:
    """Raise an exception if HiGHS returned an error code."""
    import highspy

    if status == highspy.HighsStatus.kError:
        raise SolverError(f"HiGHS could not {what}")


def new_highs(**options: Any) -> Any:
    """A silent ``highspy.Highs`` object with one thread, and the given options."""
    import highspy

    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    set_options(highs, output_flag=False, **{**_OPTIONS, **options})
    return highs


def set_options(highs: Any, **options: Any) -> None:
    """Set HiGHS options; an unknown name or an invalid value raises."""
    for name, value in options.items():
        try:
            status = highs.setOptionValue(name, value)
        except KeyError:
            raise SolverError(f"HiGHS has no option {name!r}") from None
        check_highs(status, f"set option {name}={value!r}")


def run_here(highs: Any) -> Any:
    """Run HiGHS in the thread of the caller; HiGHS's status.

    The number of worker threads of a thread is that of its first run, which may have been another
    program's. HiGHS then refuses any other number but 0.
    """
    import highspy

    status = highs.run()
    if status == highspy.HighsStatus.kError:
        set_options(highs, threads=0)
        status = highs.run()
    return status


class Arrays:
    """A program as the arrays that HiGHS takes.

    Parameters
    ----------
    columns
        Cost, lower bound, upper bound, and whether each column is integer.
    rows
        Lower and upper bounds.
    matrix
        Starts, column indices and values, row by row; one more start than there are rows.
    maximise, offset
        The sense and the constant of the objective.
    """

    def __init__(
        self,
        columns: Sequence[npt.ArrayLike],
        rows: Sequence[npt.ArrayLike],
        matrix: Sequence[npt.ArrayLike],
        *,
        maximise: bool = True,
        offset: float = 0.0,
    ) -> None:
        *costs_and_bounds, integer = columns
        starts, index, value = matrix
        self.vectors = [np.asarray(a, dtype=np.float64) for a in (*costs_and_bounds, *rows)]
        self.integer = np.asarray(integer, dtype=np.int32)
        self.starts = np.asarray(starts, dtype=np.int32)
        self.index = np.asarray(index, dtype=np.int32)
        self.value = np.asarray(value, dtype=np.float64)
        self.maximise, self.offset = maximise, offset

    @classmethod
    def of(cls, model: SparseModel) -> Arrays:
        """The arrays of a model."""
        columns, rows = model.columns, model.rows
        lengths = np.concatenate([np.diff(b.starts) for b in rows])
        bounds = ("cost", "lower", "upper")
        return cls(
            [
                *(np.concatenate([getattr(b, a) for b in columns]) for a in bounds),
                np.repeat([b.integer for b in columns], [len(b) for b in columns]),
            ],
            [np.concatenate([getattr(b, a) for b in rows]) for a in ("lower", "upper")],
            [
                np.concatenate([[0], np.cumsum(lengths)]),
                *(np.concatenate([getattr(b, a) for b in rows]) for a in ("index", "value")),
            ],
        )

    def pass_to(self, highs: Any) -> None:
        """Pass the program to a ``highspy.Highs`` object."""
        import highspy

        status = highs.passModel(
            len(self.vectors[0]),
            len(self.vectors[-1]),
            len(self.value),
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMaximize if self.maximise else highspy.ObjSense.kMinimize),
            self.offset,
            *self.vectors,
            self.starts,
            self.index,
            self.value,
            self.integer,
        )
        check_highs(status, "take the model")


def write_model(model: SparseModel, path: str | Path) -> None:
    """Write an LP or MPS file with readable names, and a legend as comments."""
    path = Path(path)
    if path.suffix not in MODEL_SUFFIXES:
        raise OptionError(
            f"{path}: a model file must end in {' or '.join(MODEL_SUFFIXES)}, not {path.suffix!r}"
        )
    check_writable(path)
    highs = new_highs()
    Arrays.of(model).pass_to(highs)
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
        reason = error.strerror or error
        raise OutputError(f"cannot write {path}: {reason}; choose another folder") from None
