"""``milpbn learn``: run one heuristic, or compare all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import data_options, held_out_options
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import (
    given_names,
    given_settings,
    picture_options,
    run_options,
    score_options,
    setting_option,
    space_options,
)
from milpbn.cli.outputs import show
from milpbn.cli.params import refuse_options
from milpbn.cli.registries import RegistryCommand, learner_lines, multinet_lines
from milpbn.cli.selecting import (
    accept_old_plot,
    given_plan,
    selection_options,
    selection_plot_option,
)
from milpbn.cli.session import Session
from milpbn.settings import MethodNames, SpaceNames, declared

if TYPE_CHECKING:
    from milpbn.learning.model import Model
    from milpbn.learning.settings import Settings
    from milpbn.structure import Structure

ALL = "all"
_SEARCH = (
    *declared(SpaceNames, MethodNames).keys() - {"start_source"},
    *("require", "forbid", "constraints_file"),
)


@command(
    cls=RegistryCommand,
    places={"{heuristics}": learner_lines, "{multinets}": multinet_lines},
    short_help="Learn a structure with a heuristic.",
)
@data_options
@held_out_options
@setting_option(
    "method",
    "The heuristic to run, or all of them in turn.",
    default="local-search",
    shown="local-search",
    metavar="NAME|all",
    old=(),
)
@score_options
@space_options
@selection_options
@selection_plot_option
@setting_option(
    "start",
    "Model, network or structure file to start from.",
    shown="none",
    metavar="FILE",
    rare=False,
    old=(),
)
@option(
    Group.METHOD,
    "--structure",
    "structure_file",
    metavar="FILE",
    help="Do not search: learn only the parameters, for the structure in this model, network or "
    "structure file.",
)
@run_options
@picture_options("Draw the network (png, svg, pdf, dot); for a multinet, one file per class.")
@click.pass_context
def learn(ctx: click.Context, /, **options: Any) -> None:
    """Learn a structure with a heuristic: fast, but without a bound.

    Heuristics work with every score, including those that `solve` cannot maximise exactly.
    With --method all, the time limit is divided evenly, a table compares the heuristics, and
    the best structure is reported.

    \b
    Heuristics:
      {heuristics}

    \b
    Multinets, one structure per class (not part of `all`):
      {multinets}

    \b
    Examples:
      milpbn learn --dataset vehicle --method sa --score sm --time-limit 30s
      milpbn learn --dataset satimage --method all --score cr --class-root
      milpbn learn --dataset car --structure expert.bif --out model.json
    """
    accept_old_plot(options)
    _check(ctx, options)
    from milpbn.interchange import read_structure

    file = options["start"] or options["structure_file"]
    start = read_structure(file) if file else None
    racing = options["method"] == ALL
    settings = given_settings(options, start=start, **({"method": "nb"} if racing else {}))
    if options["structure_file"]:
        assert start is not None
        settings = _given(settings, start, file)
    plan = given_plan(options, "plot_selection")
    if plan is not None:
        if racing or options["structure_file"]:
            other = "--method all" if racing else "--structure"
            raise click.UsageError(f"--select cannot be combined with {other}")
        names = given_names(options, start=start)
        plan.candidates(names)  # bad values are reported before anything is read
    phases = ("selecting", "searching") if plan is not None else ("searching",)
    session = Session(ctx, options, settings, phases)
    with session.table:
        session.load()
        if plan is not None:
            session.select(names, plan)
        models = _race(session) if racing else [session.learn()]
    if racing and not options["as_json"]:
        show(f"{_comparison(models, session)}\n")
    session.deliver(max(models, key=lambda model: model.result.objective))
    from milpbn.search import LEARNERS

    complete = len(models) == (len(LEARNERS) if racing else 1)
    ctx.exit(0 if complete and not any(map(_stopped_early, models)) else EXIT_STOPPED)


def _stopped_early(model: Model) -> bool:
    return model.result.status in ("time_limit", "interrupted") or model.parameters.stopped_early


def _given(settings: Settings, structure: Structure, file: str) -> Settings:
    """Settings that fit a given structure; their search space is large enough to contain it."""
    from dataclasses import replace

    space = replace(settings.space, max_parents=max(1, *(len(s) for s in structure.parents)))
    return replace(settings, method=structure, start=None, start_source=file, space=space)


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    Session.check(options)
    if options["structure_file"]:
        refuse_options(
            ctx, _SEARCH, "cannot be combined with --structure, which replaces the search"
        )
    from milpbn.errors import OptionError
    from milpbn.learning.methods import ENGINES, check_method
    from milpbn.scores import make_score

    try:
        if options["method"] in ENGINES:
            raise OptionError(f"{options['method']} is an exact engine; use `milpbn solve`")
        if options["method"] != ALL:
            check_method(options["method"], make_score(options["score"]))
    except OptionError as error:
        raise click.UsageError(error.on_command_line()) from None


def _race(session: Session) -> list[Model]:
    """Run every heuristic until one is interrupted; return their classifiers."""
    from dataclasses import replace

    from milpbn.clock import Clock
    from milpbn.learning.maximise import Shared
    from milpbn.learning.objective import build_objective
    from milpbn.search import LEARNERS

    settings = session.settings
    objective = build_objective(
        session.data,
        settings.score,
        settings.space,
        clock=session.clock,
        options=settings.options,
        prune=False,
    )
    session.clock.close_phase("scoring")
    models: list[Model] = []
    for k, method in enumerate(LEARNERS):
        clock = Clock(session.clock.remaining / (len(LEARNERS) - k))
        try:
            model = session.learn(replace(settings, method=method), clock, Shared(objective))
        except KeyboardInterrupt:
            # Interrupted between two methods: the earlier results still count.
            if not models:
                raise
            session.table.print(f"note: interrupted after {k} of {len(LEARNERS)} methods")
            break
        session.table.print(f"{method}: {model.result.objective:.4f}")
        models.append(model)
        if "interrupted" in (model.result.status, model.parameters.ended):
            break
    return models


def _comparison(models: Sequence[Model], session: Session) -> str:
    """One line per heuristic."""
    header = (
        f"{'method':<14}{'score':>14}{'evaluations':>13}{'seconds':>9}{'training':>10}{'test':>9}"
    )
    return "\n".join([header, *(_line(model, session) for model in models)])


def _line(model: Model, session: Session) -> str:
    from milpbn.cli.report import accuracies

    result, shares = model.result, accuracies(model, session.data)
    test = f"{100 * shares['test']:>7.2f} %" if "test" in shares else f"{'-':>9}"
    return (
        f"{result.engine:<14}{result.objective:>14.4f}{result.evaluations:>13}"
        f"{sum(result.seconds.values()):>9.2f}{100 * shares['training']:>8.2f} %{test}"
    )
