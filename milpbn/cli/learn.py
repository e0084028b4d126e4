"""``milpbn learn``: the heuristics, alone or raced against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import data_options
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import run_options, score_options, space_options
from milpbn.cli.params import refuse_options
from milpbn.cli.registries import RegistryCommand, learner_lines, multinet_lines
from milpbn.cli.session import Session

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.network.model_file import Model
    from milpbn.result import Result
    from milpbn.scores import Objective
    from milpbn.structure import Structure

ALL = "all"
_SETTINGS = ("method", "folds")
_SEARCH = (
    "method",
    "start",
    "max_parents",
    "class_parents",
    "augmented",
    "require",
    "forbid",
    "constraints_file",
)


@click.command(
    cls=RegistryCommand,
    places={"{heuristics}": learner_lines, "{multinets}": multinet_lines},
    short_help="Learn a structure by a heuristic.",
)
@data_options
@click.option(
    "--method",
    default="local-search",
    show_default=True,
    metavar="NAME|all",
    help="A heuristic, or all of them one after the other.",
)
@score_options
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Score rows by cross-validation inside the training rows.",
)
@space_options
@click.option("--start", metavar="FILE", help="A model, network or structure file to start from.")
@click.option(
    "--structure",
    "structure_file",
    metavar="FILE",
    help="Do not search: fit parameters to the structure of a model, network or structure file.",
)
@run_options
@click.pass_context
def learn(ctx: click.Context, /, **options: Any) -> None:
    """Learn a structure by a heuristic: quick, without a bound.

    Every score can be searched with, also those that `solve` cannot solve. With --method all
    the time limit is shared out evenly, a table compares the heuristics, and the best
    structure is reported.

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
    _check(ctx, options)
    from milpbn.interchange import read_structure
    from milpbn.learning import given_structure

    session = Session(ctx, options, ("searching",))
    with session.table:
        file = options["start"] or options["structure_file"]
        start = read_structure(file) if file else None
        session.load()
        table = ""
        if options["structure_file"]:
            assert start is not None
            # The space that the model file states is one that holds the structure.
            options["max_parents"] = max(1, *(len(s) for s in start.parents))
            result = given_structure(session.data, session.score, start, file, session.clock)
            model = session.model(result, ("structure_file", "folds"))
        elif options["method"] == ALL:
            model, table = _race(session, start)
        else:
            result = _run(session, options["method"], session.structure_clock, start)
            model = session.model(result, _SETTINGS)
    if table and not options["as_json"]:
        click.echo(f"{table}\n")
    session.deliver(model)
    stopped = "interrupted" in (model.result.status, model.parameters.ended)
    ctx.exit(EXIT_STOPPED if stopped else 0)


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    Session.check(options)
    if options["structure_file"]:
        refuse_options(ctx, _SEARCH, "is about a search; --structure leaves nothing to search for")
    from milpbn.errors import OptionError
    from milpbn.scores import score_class
    from milpbn.scores.rescore import check_per_class
    from milpbn.search import make_learner
    from milpbn.search.multinet import MULTINETS

    try:
        if options["method"] in MULTINETS:
            check_per_class(score_class(options["score"]))
        elif options["method"] != ALL:
            make_learner(options["method"])
    except OptionError as error:
        raise click.UsageError(str(error)) from None


def _run(
    session: Session,
    method: str,
    clock: Clock,
    start: Structure | None,
    objective: Objective | None = None,
) -> Result:
    from milpbn.anytime import SolveOptions
    from milpbn.learning import run_method

    options = session.options
    return run_method(
        session.data,
        session.score,
        session.space,
        method=method,
        clock=clock,
        start=start,
        options=SolveOptions(seed=options["seed"], memory_limit=options["memory_limit"]),
        # In a race only the table of methods is shown.
        listener=session.listener if objective is None else None,
        objective=objective,
    )


def _race(session: Session, start: Structure | None) -> tuple[Model, str]:
    """Run every heuristic; the classifier with the best score, and a table of them all."""
    from milpbn.cli.report import accuracies
    from milpbn.clock import Clock
    from milpbn.learning import build_objective, structure_clock
    from milpbn.search import LEARNERS

    objective = build_objective(
        session.data,
        session.score,
        session.space,
        clock=session.clock,
        memory_limit=session.options["memory_limit"],
        prune=False,
    )
    session.clock.close_phase("scoring")
    lines = [
        f"{'method':<14}{'score':>14}{'evaluations':>13}{'seconds':>9}{'training':>10}{'test':>9}"
    ]
    best: Model | None = None
    for k, method in enumerate(LEARNERS):
        clock = Clock(session.clock.remaining / (len(LEARNERS) - k))
        try:
            structure_time = structure_clock(clock, session.parameters)
            result = _run(session, method, structure_time, start, objective)
        except KeyboardInterrupt:
            # Between two methods: the results of those before still count.
            if best is None:
                raise
            break
        session.table.print(f"{method}: {result.objective:.4f}")
        model = session.model(result, _SETTINGS, clock)
        shares = accuracies(model, session.data)
        test = f"{100 * shares['test']:>7.2f} %" if "test" in shares else f"{'-':>9}"
        lines.append(
            f"{method:<14}{result.objective:>14.4f}{result.evaluations:>13}"
            f"{sum(model.result.seconds.values()):>9.2f}{100 * shares['training']:>8.2f} %{test}"
        )
        if best is None or result.objective > best.result.objective:
            best = model
        if "interrupted" in (result.status, model.parameters.ended):
            break
    assert best is not None
    return best, "\n".join(lines)
