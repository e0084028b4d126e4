"""The mixed-integer program: a sparse model, emitters to PuLP and highspy, and how HiGHS runs."""

from milpbn.engines.monolithic.build import ModelLayout, build_model
from milpbn.engines.monolithic.emit_highs import write_model
from milpbn.engines.monolithic.emit_pulp import to_pulp
from milpbn.engines.monolithic.model import SparseModel

__all__ = ["ModelLayout", "SparseModel", "build_model", "to_pulp", "write_model"]
