"""The mixed-integer programs: a sparse model, and emitters to PuLP and highspy."""

from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

if TYPE_CHECKING:
    from milpbn.formulation.build import ModelLayout, build_model
    from milpbn.formulation.emit_highs import write_model
    from milpbn.formulation.emit_pulp import to_pulp
    from milpbn.formulation.model import SparseModel

__all__ = ["ModelLayout", "SparseModel", "build_model", "to_pulp", "write_model"]

# The process in which HiGHS runs imports how a program is passed, and not how it is built.
__getattr__ = lazy_names(
    __name__,
    {
        "ModelLayout": "milpbn.formulation.build",
        "SparseModel": "milpbn.formulation.model",
        "build_model": "milpbn.formulation.build",
        "to_pulp": "milpbn.formulation.emit_pulp",
        "write_model": "milpbn.formulation.emit_highs",
    },
)
