"""Candidate parent sets, structural constraints, merged rows and probability tables.

A family is a variable with a parent set. Learners, scores and formulations all refer to
families by their index in one immutable :class:`FamilySpace`.
"""

from milpbn.families.budgets import Budgets
from milpbn.families.candidates import FamilySpace, candidate_families
from milpbn.families.constraints import Constraints
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Epsilon, Laplace, Smoothing, parse_smoothing
from milpbn.families.tables import FamilyTables

__all__ = [
    "Budgets",
    "Constraints",
    "Epsilon",
    "FamilySpace",
    "FamilyTables",
    "Laplace",
    "MergedRows",
    "Smoothing",
    "candidate_families",
    "parse_smoothing",
]
