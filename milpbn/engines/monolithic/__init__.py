"""The mixed-integer program: a sparse model, emitters to PuLP and highspy, and how HiGHS runs."""

from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

if TYPE_CHECKING:
    from milpbn.engines.monolithic.build import ModelLayout, build_model
    from milpbn.engines.monolithic.emit_highs import write_model
    from milpbn.engines.monolithic.emit_pulp import to_pulp
    from milpbn.engines.monolithic.model import SparseModel

__all__ = ["ModelLayout", "SparseModel", "build_model", "to_pulp", "write_model"]

# The process in which HiGHS runs imports how a program is passed, and not how it is built.
__getattr__ = lazy_names(
    __name__,
    {
        "ModelLayout": "milpbn.engines.monolithic.build",
        "SparseModel": "milpbn.engines.monolithic.model",
        "build_model": "milpbn.engines.monolithic.build",
        "to_pulp": "milpbn.engines.monolithic.emit_pulp",
        "write_model": "milpbn.engines.monolithic.emit_highs",
    },
)
