"""Groups of options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from milpbn.cli.grouping import Decorator, Group, option, option_group
from milpbn.cli.params import (
    ARC,
    FEATURE_COSTS,
    PARAMETERS,
    PENALTY,
    SMOOTHING,
    VALIDATION,
    Duration,
    Gap,
    Number,
    Numbers,
    OutputFile,
    ScoreName,
    Size,
)
from milpbn.cli.registries import (
    Registered,
    all_scores,
    exact_scores,
    generative_scores,
    parameter_learners,
    registry,
    scores_with,
)

if TYPE_CHECKING:
    from milpbn.anytime import SolveOptions
    from milpbn.families import Constraints
    from milpbn.learning.settings import SettingNames, Settings
    from milpbn.structure import Structure


def seed_option(of: str) -> Decorator:
    """The option --seed; `of` is its help text."""
    seeds = click.IntRange(0, 2**31 - 1)
    return option(
        Group.LIMITS, "--seed", type=seeds, default=0, show_default=True, help=of, rare=True
    )


def _score_option(known: Callable[[], str]) -> Decorator:
    return option(
        Group.SCORE,
        "--score",
        type=ScoreName(),
        default="sm",
        show_default=True,
        help_from=lambda: f"Score to maximise: {known()}.",
    )


_P = option(
    Group.SCORE,
    "--p",
    type=Number(0.5, 1),
    help_from=lambda: f"Desired class probability for {scores_with('p')}.  [default: 0.9]",
)
_P_GRID = option(
    Group.SCORE,
    "--p",
    type=Numbers(0.5, 1),
    metavar="P[,P...]",
    help_from=lambda: (
        f"Desired class probability for {scores_with('p')}; several values are solved in "
        "turn: 0.6,0.8,0.9.  [default: 0.9]"
    ),
)
_GAMMA = option(
    Group.SCORE, "--gamma", type=Number(0), help="Desired log-margin, instead of --p.", rare=True
)

ess_option = option(
    Group.SCORE,
    "--ess",
    type=Number(0),
    help_from=lambda: f"Equivalent sample size for {scores_with('ess')}.  [default: 1]",
    rare=True,
)

_PENALTY = option(
    Group.SCORE,
    "--penalty",
    type=PENALTY,
    metavar="LAMBDA|bic",
    help_from=lambda: (
        f"Cost of one free parameter for {scores_with('penalty')}; larger values give sparser "
        "networks.  [default: 0]"
    ),
)

_VALIDATION = option(
    Group.SCORE,
    "--validation",
    type=VALIDATION,
    metavar="loo|FOLDS|none",
    help_from=lambda: (
        "Score each row with parameters learned without it (loo) or without its fold, for "
        f"{scores_with('validation')}.  [default: none; loo if columns have several resolutions]"
    ),
    rare=True,
)

_SETTINGS = (_GAMMA, _PENALTY, _VALIDATION, ess_option)

score_options = option_group((_score_option(all_scores), _P, *_SETTINGS))
"""Options that choose the score."""

grid_score_options = option_group((_score_option(exact_scores), _P_GRID, *_SETTINGS))
"""Options that choose the score, with one value of p or several."""

margin_options = option_group(
    (_score_option(lambda: scores_with("penalty")), _P_GRID, _GAMMA, _VALIDATION)
)
"""Options that choose a score with a penalty, whose values are given elsewhere."""

SCORE_SETTINGS = ("p", "gamma", "penalty", "validation", "ess")
"""The options that are settings of scores, by the names of the settings."""


def check_score(options: Mapping[str, Any], settings: Sequence[str] = SCORE_SETTINGS) -> None:
    """Reject settings that contradict each other or that the score does not have."""
    from milpbn.scores import score_class

    if options.get("p") is not None and options.get("gamma") is not None:
        raise click.UsageError("give --p or --gamma, not both")
    kind = score_class(options["score"])
    for name in settings:
        if options.get(name) is not None and name not in kind.parameter_names():
            raise click.UsageError(f"--{name} cannot be combined with --score {kind.name}")


_CONSTRAINTS = (
    option(
        Group.SPACE,
        "--require",
        type=ARC,
        multiple=True,
        help="Required arc; may be repeated. Put a name that contains -> in double quotes.",
    ),
    option(
        Group.SPACE,
        "--forbid",
        type=ARC,
        multiple=True,
        help="Forbidden arc, written like --require.",
    ),
    option(
        Group.SPACE,
        "--constraints",
        "constraints_file",
        metavar="FILE",
        help="TOML or JSON file with constraints: required and forbidden arcs, tiers, limits.",
        rare=True,
    ),
)

constraint_options = option_group(_CONSTRAINTS)
"""Options that constrain the structure."""


def given_constraints(options: Mapping[str, Any]) -> Constraints:
    """The constraints from all constraint options together."""
    from milpbn.families import Constraints

    file = options["constraints_file"]
    given = Constraints.from_file(file) if file else Constraints()
    return given.merged(options["require"], options["forbid"])


def given_settings(
    options: Mapping[str, Any], *, start: Structure | str | None = None, **more: Any
) -> Settings:
    """The settings from the options of a learning command; other settings have their defaults."""
    from milpbn.learning.settings import make_settings

    return make_settings(**given_names(options, start=start, **more))


def given_names(
    options: Mapping[str, Any], *, start: Structure | str | None = None, **more: Any
) -> SettingNames:
    """The settings that the options give, by name."""
    from milpbn.learning.settings import SettingNames

    # Options and settings share their names; only --start is something else, a file.
    known = SettingNames.__annotations__.keys() - {"start"}
    names = {k: options[k] for k in known if options.get(k) is not None}
    if isinstance(names.get("p"), tuple):
        del names["p"]  # several p: the grid sets the score of each
    if "engine" in options:
        names["method"] = options["engine"]
    source = options.get("warm_start") or options.get("start")
    if source:
        names["start_source"] = source
    return cast(
        "SettingNames",
        {
            "structure_score": options["score"],
            "constraints": given_constraints(options),
            "start": start,
            **names,
            **more,
        },
    )


def given_solve_options(options: Mapping[str, Any]) -> SolveOptions:
    """The engine options."""
    from dataclasses import fields

    from milpbn.anytime import SolveOptions

    return SolveOptions(**{f.name: options[f.name] for f in fields(SolveOptions)})


structure_options = option_group(
    (
        option(
            Group.SPACE,
            "--max-parents",
            type=click.IntRange(min=1),
            default=2,
            show_default=True,
            help="Maximum number of parents per variable, including the class.",
        ),
        option(
            Group.SPACE,
            "--class-parents/--class-root",
            default=True,
            show_default=True,
            help="Whether features may be parents of the class.",
        ),
        option(
            Group.SPACE,
            "--augmented",
            is_flag=True,
            help_from=lambda: (
                "Require the class as a parent of every feature that has parents. Optional for "
                f"generative scores ({generative_scores()}), always on for the others."
            ),
            rare=True,
        ),
        *_CONSTRAINTS,
    )
)
"""Options that define the search space."""

BUDGETS = {
    "max_arcs": "Maximum number of arcs.",
    "max_features": "Maximum number of features that have an arc; the others are not used.",
    "max_parameters": "Maximum number of free parameters of the network.",
    "max_cost": "Maximum cost of the features that have an arc; --feature-cost has the costs.",
}
"""The options that limit the structure as a whole, with their help texts."""

budget_options = option_group(
    [
        option(
            Group.SPACE,
            f"--{name.replace('_', '-')}",
            type=click.IntRange(min=0),
            help=text,
            rare=True,
        )
        for name, text in BUDGETS.items()
    ]
    + [
        option(
            Group.SPACE,
            "--feature-cost",
            "feature_costs",
            type=FEATURE_COSTS,
            metavar="FEATURE=COST,...",
            help="What features cost, as whole numbers: test=5,xray=20. Others cost nothing.",
            rare=True,
        )
    ]
)
"""Options that limit the structure as a whole."""

smoothing_option = option(
    Group.PARAMETERS,
    "--smoothing",
    type=SMOOTHING,
    default="laplace",
    show_default=True,
    help="Smoothing of the parameters: laplace[:COUNT] or epsilon[:VALUE].",
    rare=True,
)

_parameters = option(
    Group.PARAMETERS,
    "--parameters",
    type=PARAMETERS,
    default="ml",
    show_default=True,
    help_from=lambda: (
        f"Parameter learner of the final classifier: {parameter_learners()}; settings follow a "
        "colon: cl:penalty=0.1."
    ),
)

space_options = option_group((structure_options, budget_options, smoothing_option, _parameters))
"""Options that define the search space, and how parameters are learned."""

output_options = option_group(
    (
        option(
            Group.OUTPUT,
            "--out",
            type=OutputFile(),
            metavar="MODEL.json",
            help="Save the classifier.",
        ),
        option(
            Group.OUTPUT,
            "--trace",
            "trace_file",
            type=OutputFile(),
            metavar="TRACE.csv",
            help="Save objective and bound over time.",
            rare=True,
        ),
        option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the result as JSON."),
        option(Group.OUTPUT, "--quiet", is_flag=True, help="No progress and no notes on stderr."),
    )
)
"""Options for the output."""

emit_option = option(
    Group.PROOF,
    "--emit",
    type=Registered(registry("milpbn.anytime.options", "EMITTERS")),
    default="pulp",
    show_default=True,
    help="How the monolithic model is passed to HiGHS.",
    rare=True,
)
"""The option for how a program gets into its solver."""

write_model_option = option(
    Group.PROOF,
    "--write-model",
    type=OutputFile(".lp", ".mps"),
    metavar="X.lp|X.mps",
    help="Save the mixed-integer program.",
    rare=True,
)
"""The option that saves the program."""

proof_options = option_group(
    (
        option(
            Group.PROOF,
            "--gap",
            type=Gap(),
            default=0.0,
            help="Stop at this gap: 1% or 0.01.  [default: 0]",
        ),
        option(
            Group.LIMITS,
            "--threads",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            help="Number of threads for passes over the rows, and for the monolithic engine.",
            rare=True,
        ),
    )
)
"""Options of the exact engines."""

checkpoint_options = option_group(
    (
        option(
            Group.PROOF,
            "--checkpoint",
            type=OutputFile(),
            metavar="FILE",
            help="Save the tree regularly and at the end, so that --resume can continue.",
            rare=True,
        ),
        option(
            Group.PROOF,
            "--resume",
            type=click.Path(exists=True, dir_okay=False),
            metavar="FILE",
            help="Continue from a file that --checkpoint wrote for the same data, score and "
            "search space.",
            rare=True,
        ),
    )
)
"""Options that stop and continue a proof."""

scheduler_option = option(
    Group.LIMITS,
    "--scheduler",
    metavar="ADDRESS",
    help="Use the workers of a running Dask cluster: tcp://HOST:8786. Needs milpbn[cluster].",
    rare=True,
)

worker_options = option_group(
    (
        option(
            Group.LIMITS,
            "--workers",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Number of local worker processes; needs the extra milpbn[cluster].",
            rare=True,
        ),
        scheduler_option,
    )
)
"""Options for worker processes of the tree."""

memory_option = option(
    Group.LIMITS,
    "--memory-limit",
    type=Size(),
    default="4GiB",
    show_default=True,
    help="Reject problems that are estimated to need more memory: 500MB, 4GB.",
    rare=True,
)

limit_options = option_group(
    (
        option(
            Group.LIMITS,
            "--time-limit",
            type=Duration(),
            help="Time limit for the run: 90, 90s, 5m, 2h.",
        ),
        seed_option("Random seed for the solver and the heuristics."),
        memory_option,
    )
)
"""Limits of a run."""

run_options = option_group((limit_options, output_options))
"""Limits and outputs of a run."""


def picture_options(network: str) -> Decorator:
    """Options that draw a model; `network` is the help text of --draw."""
    formats = (".png", ".svg", ".pdf")
    return option_group(
        (
            option(
                Group.OUTPUT,
                "--plot",
                type=OutputFile(*formats),
                metavar="OUT.png",
                help="Plot objective and bound over time (png, svg, pdf).",
            ),
            option(
                Group.OUTPUT,
                "--draw",
                type=OutputFile(*formats, ".dot"),
                metavar="OUT.png",
                help=network,
            ),
        )
    )
