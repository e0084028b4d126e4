"""The errors milpbn raises. Each message says what was wrong, where, and what to do.

Only :class:`MilpbnError` and its children are meant to reach a user; the command
line prints them without a traceback.
"""


class MilpbnError(Exception):
    """Base of every error that milpbn raises on purpose."""


class DataError(MilpbnError, ValueError):
    """A file, a table or a column cannot be used as it is."""


class OptionError(MilpbnError, ValueError):
    """A parameter or an option has a value that makes no sense."""


class ConstraintError(MilpbnError, ValueError):
    """The structural constraints contradict each other or the search space."""


class BudgetError(MilpbnError, MemoryError):
    """The problem would not fit into the memory budget."""


class ModelFileError(MilpbnError, ValueError):
    """A model file is damaged, truncated, foreign, or of an unknown version."""


class SolverError(MilpbnError, RuntimeError):
    """The solver failed, or answered something that does not hold when checked."""
