"""Options that several commands share, in groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.params import (
    ArcParam,
    Duration,
    Number,
    Numbers,
    OutputFile,
    ParametersText,
    ScoreName,
    Size,
    SmoothingText,
)
from milpbn.cli.registries import (
    RegistryOption,
    all_scores,
    exact_scores,
    generative_scores,
    parameter_learners,
    scores_with,
)

if TYPE_CHECKING:
    from milpbn.anytime import SolveOptions
    from milpbn.families import Constraints
    from milpbn.learning.settings import Settings
    from milpbn.structure import Structure

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option_group(options: Sequence[Decorator]) -> Decorator:
    """A decorator that adds these options to a command."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def seed_option(of: str) -> Decorator:
    """The seed; `of` says what it decides."""
    seeds = click.IntRange(0, 2**31 - 1)
    return click.option("--seed", type=seeds, default=0, show_default=True, help=of)


def _score_option(known: Callable[[], str]) -> Decorator:
    return click.option(
        "--score",
        cls=RegistryOption,
        type=ScoreName(),
        default="sm",
        show_default=True,
        help_from=lambda: f"{known()}.",
    )


_P = click.option(
    "--p",
    cls=RegistryOption,
    type=Number(0.5, 1),
    help_from=lambda: f"Desired class probability of {scores_with('p')}.  [default: 0.9]",
)
_P_GRID = click.option(
    "--p",
    cls=RegistryOption,
    type=Numbers(0.5, 1),
    metavar="P[,P...]",
    help_from=lambda: (
        f"Desired class probability of {scores_with('p')}; several are solved one "
        "after the other, sharing their cuts: 0.6,0.8,0.9.  [default: 0.9]"
    ),
)
_GAMMA = click.option("--gamma", type=Number(0), help="Desired log-margin instead of --p.")

ess_option = click.option(
    "--ess",
    cls=RegistryOption,
    type=Number(0),
    help_from=lambda: f"Equivalent sample size of {scores_with('ess')}.  [default: 1]",
)

score_options = option_group((_score_option(all_scores), _P, _GAMMA, ess_option))
"""What is maximised."""

grid_score_options = option_group((_score_option(exact_scores), _P_GRID, _GAMMA, ess_option))
"""What is maximised, for one p or several."""

SCORE_SETTINGS = ("p", "gamma", "ess", "folds")
"""The options that are settings of scores, by the names of the settings."""


def check_score(options: Mapping[str, Any], settings: Sequence[str] = SCORE_SETTINGS) -> None:
    """Refuse settings that contradict each other or that the score does not have."""
    from milpbn.scores import score_class

    if options.get("p") is not None and options.get("gamma") is not None:
        raise click.UsageError("give --p or --gamma, not both")
    kind = score_class(options["score"])
    for name in settings:
        if options.get(name) is not None and name not in kind.parameter_names():
            raise click.UsageError(f"--{name} does not go with --score {kind.name}")


_CONSTRAINTS = (
    click.option("--require", type=ArcParam(), multiple=True, help="An arc that must be there."),
    click.option("--forbid", type=ArcParam(), multiple=True, help="An arc that must not be there."),
    click.option(
        "--constraints",
        "constraints_file",
        metavar="FILE",
        help="Arcs, tiers and parent limits from a TOML or JSON file.",
    ),
)

constraint_options = option_group(_CONSTRAINTS)
"""Arcs and limits that a user knows."""


def given_constraints(options: Mapping[str, Any]) -> Constraints:
    """What the constraint options say together."""
    from milpbn.families import Constraints

    file = options["constraints_file"]
    given = Constraints.from_file(file) if file else Constraints()
    return given.merged(options["require"], options["forbid"])


# Options of commands whose names settings share.
_SETTINGS = (
    *SCORE_SETTINGS,
    "smoothing",
    "max_parents",
    "class_parents",
    "augmented",
    "method",
    "parameters",
    "time_limit",
    "gap",
    "threads",
    "seed",
    "emit",
    "memory_limit",
    "host",
)


def given_settings(
    options: Mapping[str, Any], *, start: Structure | str | None = None, **more: Any
) -> Settings:
    """What the options of a learning command say together; what is not given has its default."""
    from milpbn.learning.settings import make_settings

    names = {k: options[k] for k in _SETTINGS if options.get(k) is not None}
    if isinstance(names.get("p"), tuple):
        del names["p"]  # several p: the grid sets the score of each
    if "engine" in options:
        names["method"] = options["engine"]
    if options.get("warm_start"):
        names["start_source"] = options["warm_start"]
    return make_settings(
        structure_score=options["score"],
        constraints=given_constraints(options),
        start=start,
        **{**names, **more},
    )


def given_solve_options(options: Mapping[str, Any]) -> SolveOptions:
    """What the options of the engines say together."""
    from milpbn.anytime import SolveOptions

    names = ("gap", "threads", "seed", "emit", "memory_limit", "host")
    return SolveOptions(**{name: options[name] for name in names})


structure_options = option_group(
    (
        click.option(
            "--max-parents",
            type=click.IntRange(min=1),
            default=2,
            show_default=True,
            help="Parents of a variable, the class included.",
        ),
        click.option(
            "--class-parents/--class-root",
            default=True,
            show_default=True,
            help="Whether features may be parents of the class.",
        ),
        click.option(
            "--augmented",
            cls=RegistryOption,
            is_flag=True,
            help_from=lambda: (
                "Features have no parents, or the class among them: a choice for generative "
                f"scores ({generative_scores()}), always so for the others."
            ),
        ),
        *_CONSTRAINTS,
    )
)
"""Which structures are considered."""

smoothing_option = click.option(
    "--smoothing",
    type=SmoothingText(),
    default="laplace",
    show_default=True,
    help="laplace[:COUNT] or epsilon[:VALUE].",
)

_parameters = click.option(
    "--parameters",
    cls=RegistryOption,
    type=ParametersText(),
    default="ml",
    show_default=True,
    help_from=lambda: (
        f"Of the final classifier: {parameter_learners()}; settings as in cl:penalty=0.1."
    ),
)

space_options = option_group((structure_options, smoothing_option, _parameters))
"""Which structures are considered, and how their parameters are estimated."""

output_options = option_group(
    (
        click.option("--out", type=OutputFile(), metavar="MODEL.json", help="Save the classifier."),
        click.option(
            "--trace",
            "trace_file",
            type=OutputFile(),
            metavar="TRACE.csv",
            help="Save objective and bound over time.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("--quiet", is_flag=True, help="No progress and no notes on stderr."),
    )
)
"""What becomes of a result."""

run_options = option_group(
    (
        click.option("--time-limit", type=Duration(), help="For everything: 90, 90s, 5m, 2h."),
        seed_option("Of the solver and the heuristics."),
        click.option(
            "--memory-limit",
            type=Size(),
            default="4GiB",
            show_default=True,
            help="Refuse what is estimated to need more: 500MB, 4GB.",
        ),
        output_options,
    )
)
"""Budgets and outputs of a run."""


def picture_options(network: str) -> Decorator:
    """The pictures of a model; `network` says what is drawn."""
    formats = (".png", ".svg", ".pdf")
    return option_group(
        (
            click.option(
                "--plot",
                type=OutputFile(*formats),
                metavar="OUT.png",
                help="Objective and bound over time (png, svg, pdf).",
            ),
            click.option(
                "--draw",
                type=OutputFile(*formats, ".dot"),
                metavar="OUT.png",
                help=network,
            ),
        )
    )
