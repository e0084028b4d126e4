"""The options of settings, and groups of options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import click

from milpbn.cli.grouping import Decorator, Group, option, option_group
from milpbn.cli.params import (
    ARC,
    ColumnNumbers,
    Duration,
    Gap,
    Names,
    Number,
    Numbers,
    Order,
    OutputFile,
    Parsed,
    Share,
    Size,
)
from milpbn.cli.registries import Registered, help_text
from milpbn.settings import (
    RUN_SETTINGS,
    SETTINGS,
    BudgetNames,
    LimitNames,
    ParameterNames,
    ProofNames,
    ScoreNames,
    SettingNames,
    SpaceNames,
    TreeNames,
    declared,
    values,
)
from milpbn.settings.declaration import dashed

if TYPE_CHECKING:
    from milpbn.families import Constraints
    from milpbn.learning.settings import Settings
    from milpbn.structure import Structure

# How the command line reads each kind of values.
_TYPES: dict[type[values.Values], Callable[[Any], Any]] = {
    values.Number: lambda v: Number(v.above, None if v.below == math.inf else v.below),
    values.Seconds: lambda v: Duration(),
    values.Percentage: lambda v: Gap() if v.below == math.inf else Share(),
    values.Whole: lambda v: click.IntRange(v.least, v.most),
    values.Bytes: lambda v: Size(),
    values.OneOf: lambda v: Registered(lambda: v.names),
    values.NewFile: lambda v: OutputFile(),
    values.OldFile: lambda v: click.Path(exists=True, dir_okay=False),
    values.Parsed: lambda v: Parsed("text", v),
    values.ColumnList: lambda v: Names(),
    values.NumbersByColumn: lambda v: ColumnNumbers(),
    values.NamesByColumn: lambda v: Order(),
}
_BY_COLUMN = (values.NumbersByColumn, values.NamesByColumn)


def option_type(name: str) -> Any:
    """How the command line reads a setting; None for any text and for switches."""
    kind = SETTINGS[name].values
    return _TYPES[type(kind)](kind) if type(kind) in _TYPES else None


def setting_option(name: str, text: str = "", *, shown: str = "", **changes: Any) -> Decorator:
    """The option of a setting.

    Parameters
    ----------
    name
        The setting.
    text
        The help text, if a command says something else.
    shown
        The default in words, if a command has another one.
    changes
        What else is different in a command: attributes of a click option.
    """
    setting = SETTINGS[name] if not text else replace(SETTINGS[name], help=text)
    attributes = {
        "type": option_type(name),
        "metavar": setting.metavar,
        "rare": setting.rare,
        # Whether something was given matters if the default depends on other things.
        "default": None if setting.optional else setting.default,
        "old": [dashed(old) for old in setting.old],
        **changes,
    }
    if isinstance(setting.values, values.Switch):
        attributes["is_flag"] = True
    if isinstance(setting.values, _BY_COLUMN):
        attributes |= {"multiple": True, "callback": _by_column}
    shown = shown or setting.shown or setting.shown_default(setting.default)
    ending = f"  [default: {shown}]" if shown else ""
    return option(
        setting.group,
        setting.flag,
        name,
        help_from=lambda: help_text(setting) + ending,
        **attributes,
    )


def setting_options(*kinds: type, but: Sequence[str] = (), **changes: Any) -> Decorator:
    """The options of all settings in typed dictionaries, except some."""
    names = [n for n, one in declared(*kinds).items() if one.flag and n not in but]
    return option_group([setting_option(name, **changes) for name in names])


def _by_column(
    ctx: click.Context, one: click.Parameter, pairs: Sequence[tuple[str, Any]]
) -> dict[str, Any] | None:
    """What is given for some columns, by their names."""
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.UsageError(
            f"{one.opts[0]} names the column {twice[0]!r} twice; give all its values once"
        )
    return dict(pairs) or None


score_options = setting_options(ScoreNames)
"""Options that choose the score."""

exact_score_options = option_group(
    (
        setting_option("score", "Score to maximise: {exact_scores}."),
        setting_options(ScoreNames, but=("score",)),
    )
)
"""Options that choose a score for the engines."""

p_grid_option = setting_option(
    "p",
    "Desired class probabilities for {scores}: 0.6,0.8,0.9.",
    type=Numbers(0.5, 1),
    metavar="P[,P...]",
)

margin_options = option_group(
    (
        setting_option("score", "Score to maximise: {penalised_scores}."),
        setting_options(ScoreNames, but=("score", "p", "penalty", "ess")),
    )
)
"""Options that choose a score with a penalty, without p and the penalty."""


def check_score(options: Mapping[str, Any], *, shared: bool = True) -> None:
    """Reject settings that contradict each other or that the score does not have.

    Without `shared`, those may be given that belong to several scores.
    """
    from milpbn.scores import score_class

    if options.get("p") is not None and options.get("gamma") is not None:
        raise click.UsageError("give --p or --gamma, not both")
    kind = score_class(options["score"])
    for name, setting in declared(ScoreNames).items():
        if name == "score" or options.get(name) is None or (setting.of_estimator and not shared):
            continue
        if name not in kind.parameter_names():
            raise click.UsageError(f"{setting.flag} cannot be combined with --score {kind.name}")


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
    """The settings that the options give, by name; `start` is what the option --start names."""
    names = {k: options[k] for k in RUN_SETTINGS if options.get(k) is not None}
    if isinstance(names.get("p"), tuple):
        del names["p"]  # several p: the grid sets the score of each
    if "start" in names:
        names["start_source"] = names["start"]
    names |= {"constraints": given_constraints(options), "start": start, **more}
    return cast("SettingNames", names)


structure_options = option_group(
    (setting_options(SpaceNames, but=tuple(declared(BudgetNames))), constraint_options)
)
"""Options that define the search space, without limits on the structure as a whole."""

budget_options = setting_options(BudgetNames)
"""Options that limit the structure as a whole."""

space_options = option_group((structure_options, budget_options, setting_options(ParameterNames)))
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

write_model_option = option(
    Group.PROOF,
    "--write-model",
    type=OutputFile(".lp", ".mps"),
    metavar="X.lp|X.mps",
    help="Save the mixed-integer program.",
    rare=True,
)
"""The option that saves the program."""

proof_options = option_group((setting_option("gap"), setting_option("threads")))
"""Options of the exact engines."""

engine_options = option_group((setting_options(ProofNames), setting_options(TreeNames)))
"""All options of the exact engines."""

limit_options = setting_options(LimitNames)
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
