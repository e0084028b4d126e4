"""Options of a run that do not change what is maximised: gap, threads, seed, memory."""

from __future__ import annotations

from dataclasses import dataclass

from milpbn.errors import OptionError
from milpbn.families.candidates import DEFAULT_MEMORY

HOSTS = ("highs", "scip")
EMITTERS = ("pulp", "highspy")


@dataclass(frozen=True)
class SolveOptions:
    """Options of engines and heuristics.

    Parameters
    ----------
    gap
        Relative gap at which to stop; 0 requires a proof of optimality.
    threads
        Number of threads for long passes over the rows, which does not change any result, and
        for HiGHS in the monolithic engine, where only one thread is deterministic.
    seed
        Random seed.
    emit
        ``"pulp"`` or ``"highspy"``: how the monolithic model is passed to HiGHS.
    memory_limit
        Bytes for families, tables and the model.
    host
        What manages the branch-and-cut tree: ``"highs"`` (milpbn itself, with linear programs
        in HiGHS) or ``"scip"`` (needs the extra ``milpbn[scip]``).
    checkpoint
        Save the branch-and-cut tree to this file regularly and at the end.
    resume
        Continue from such a file.
    workers
        Number of local processes for the branch-and-cut tree; 0 for none beside this one. Needs
        the extra ``milpbn[cluster]``, as does `scheduler`.
    scheduler
        The address of a Dask scheduler whose workers process the tree.
    """

    gap: float = 0.0
    threads: int = 1
    seed: int = 0
    emit: str = "pulp"
    memory_limit: int = DEFAULT_MEMORY
    host: str = "highs"
    checkpoint: str | None = None
    resume: str | None = None
    workers: int = 0
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if not self.gap >= 0:
            raise OptionError(f"gap must not be negative: {self.gap}")
        if self.threads < 1:
            raise OptionError(f"threads must be at least 1, not {self.threads}")
        if self.workers < 0:
            raise OptionError(f"workers must not be negative: {self.workers}")
        if self.workers > 0 and self.scheduler is not None:
            raise OptionError("give one of workers and scheduler")
        if self.emit not in EMITTERS:
            raise OptionError(f"emit must be one of {', '.join(EMITTERS)}, not {self.emit!r}")
        if self.host not in HOSTS:
            raise OptionError(f"host must be one of {', '.join(HOSTS)}, not {self.host!r}")
