"""The mixed-integer programs: a sparse model, and emitters to PuLP and highspy."""

from milpbn.formulation.build import ModelLayout, build_model
from milpbn.formulation.emit_highs import write_model
from milpbn.formulation.emit_pulp import to_pulp
from milpbn.formulation.model import SparseModel

__all__ = ["ModelLayout", "SparseModel", "build_model", "to_pulp", "write_model"]
