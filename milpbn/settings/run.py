"""The settings of a run that do not change what is maximised: method, limits, proof and tree."""

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict

from milpbn.errors import OptionError
from milpbn.settings.declaration import OptionGroup, Setting, declared
from milpbn.settings.score import SmoothingNames
from milpbn.settings.values import (
    Anything,
    Bytes,
    NewFile,
    OldFile,
    OneOf,
    Parsed,
    Percentage,
    Seconds,
    Text,
    Whole,
)

if TYPE_CHECKING:
    from milpbn.learning.methods import Method
    from milpbn.parameters import Parameters
    from milpbn.structure import Structure

HOSTS = ("highs", "scip")
EMITTERS = ("pulp", "highspy")
DEFAULT_MEMORY = 4 * 2**30

_method = partial(Setting, OptionGroup.METHOD)
_limit = partial(Setting, OptionGroup.LIMITS)
_proof = partial(Setting, OptionGroup.PROOF)


@dataclass(frozen=True)
class SolveOptions:
    """Options of engines and heuristics; the reference of settings says what they mean."""

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
        known = declared(LimitNames, ProofNames, TreeNames)
        for one in fields(self):
            known[one.name].check(getattr(self, one.name))
        if self.workers > 0 and self.scheduler is not None:
            raise OptionError("give one of workers and scheduler")


class MethodNames(TypedDict, total=False):
    """What learns the structure, and where it starts."""

    method: Annotated[
        "Method",
        _method(
            Anything(),
            "An exact engine, a heuristic or a multinet learner: {methods}.",
            "branch-and-cut",
            selectable=True,
            metavar="NAME",
            old=("engine",),
        ),
    ]
    start: Annotated[
        "Structure | str | None",
        _method(
            Anything(),
            "Start from a model, network or structure file, or from the result of a heuristic of "
            "`milpbn learn`; none for no start.",
            "local-search",
            optional=True,
            rare=True,
            metavar="FILE|NAME|none",
            old=("warm_start",),
        ),
    ]
    start_source: Annotated[
        str,
        _method(
            Text(),
            "Where a structure that is given as a start came from, for the report.",
            "warm-start",
            flags="",
            parameter="",
        ),
    ]


class ParameterNames(SmoothingNames, total=False):
    """How the parameters of the classifier are learned."""

    parameters: Annotated[
        "str | Parameters",
        Setting(
            OptionGroup.PARAMETERS,
            Parsed("milpbn.parameters", "make_parameters", as_text=True),
            "Parameter learner of the final classifier: {parameter_learners}; settings follow a "
            "colon: cl:penalty=0.1.",
            "ml",
            selectable=True,
        ),
    ]


class LimitNames(TypedDict, total=False):
    """Limits that every run has."""

    time_limit: Annotated[
        float | None,
        _limit(Seconds(0), "Time limit for the run: 90, 90s, 5m, 2h."),
    ]
    seed: Annotated[
        int,
        _limit(
            Whole(0, 2**31 - 1),
            "Random seed for the solver and the heuristics.",
            SolveOptions.seed,
            rare=True,
            parameter="random_state",
        ),
    ]
    memory_limit: Annotated[
        int,
        _limit(
            Bytes(),
            "Reject problems that are estimated to need more memory: 500MB, 4GB.",
            SolveOptions.memory_limit,
            shown="4GiB",
            rare=True,
            parameter="",
        ),
    ]


class ProofNames(TypedDict, total=False):
    """What exact engines do."""

    gap: Annotated[
        float,
        _proof(Percentage(0), "Stop at this gap: 1% or 0.01.", SolveOptions.gap, shown="0"),
    ]
    threads: Annotated[
        int,
        _limit(
            Whole(1),
            "Number of threads for passes over the rows, and for the monolithic engine.",
            SolveOptions.threads,
            rare=True,
        ),
    ]
    host: Annotated[
        str,
        _proof(
            OneOf(__name__, "HOSTS"),
            "Solver that manages the branch-and-cut tree; scip needs the extra milpbn[scip].",
            SolveOptions.host,
            rare=True,
            parameter="",
            needs="other_hosts",
        ),
    ]
    emit: Annotated[
        str,
        _proof(
            OneOf(__name__, "EMITTERS"),
            "How the monolithic model is passed to HiGHS.",
            SolveOptions.emit,
            rare=True,
            parameter="",
            needs="emitters",
        ),
    ]


class TreeNames(TypedDict, total=False):
    """Where the tree of milpbn's own is kept, and who works on it; no part of what was learned."""

    checkpoint: Annotated[
        str | None,
        _proof(
            NewFile(),
            "Save the tree regularly and at the end, so that {resume} can continue.",
            rare=True,
            metavar="FILE",
            parameter="",
            needs="tree_host",
        ),
    ]
    resume: Annotated[
        str | None,
        _proof(
            OldFile(),
            "Continue from a file that {checkpoint} wrote for the same data, score and search "
            "space.",
            rare=True,
            metavar="FILE",
            parameter="",
            needs="tree_host",
        ),
    ]
    workers: Annotated[
        int,
        _limit(
            Whole(),
            "Number of local worker processes; needs the extra milpbn[cluster].",
            SolveOptions.workers,
            rare=True,
            parameter="",
            needs="tree_host",
        ),
    ]
    scheduler: Annotated[
        str | None,
        _limit(
            Text(),
            "Use the workers of a running Dask cluster: tcp://HOST:8786. Needs milpbn[cluster].",
            rare=True,
            metavar="ADDRESS",
            parameter="",
            needs="tree_host",
        ),
    ]
