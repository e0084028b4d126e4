"""``milpbn scores``: the local scores of a decomposable score, for other solvers."""

from __future__ import annotations

from typing import Any

import click

from milpbn.cli.data import (
    DATA_OPTIONS,
    check_data_options,
    data_options,
    load_table,
    show_notes,
)
from milpbn.cli.options import given_constraints, given_space, structure_options
from milpbn.cli.params import Duration, Number, OutputFile, Size, refuse_overwriting


@click.command(short_help="Write local scores for other solvers.")
@data_options
@click.option(
    "--score",
    type=click.Choice(["mdl", "bic", "bdeu"]),
    default="mdl",
    show_default=True,
    help="A score that is a sum over families.",
)
@click.option("--ess", type=Number(0), help="Equivalent sample size of bdeu.  [default: 1]")
@structure_options
@click.option("--time-limit", type=Duration(), help="For everything: 90, 90s, 5m, 2h.")
@click.option("--memory-limit", type=Size(), default="4GiB", show_default=True, help="500MB, 4GB.")
@click.option("--out", type=OutputFile(), metavar="X.jkl", help="Write there instead of to stdout.")
def scores(**options: Any) -> None:
    """Write the score of every candidate parent set, in the format of GOBNILP (.jkl).

    Parent sets with a subset that scores as well are left out: no optimal structure needs
    them. Scores are natural logarithms, larger is better. `milpbn solve --jkl` reads the file.

    \b
    Example:
      milpbn scores --dataset car --score bdeu --max-parents 3 --out car.jkl
    """
    from milpbn import PROCESS_START

    check_data_options(options)
    if options["ess"] is not None and options["score"] != "bdeu":
        raise click.UsageError(f"--ess does not go with --score {options['score']}")
    refuse_overwriting(
        {"--out": options["out"]},
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )
    from milpbn.clock import Clock
    from milpbn.encoding import Encoder
    from milpbn.files import write_whole
    from milpbn.interchange.jkl import write_jkl
    from milpbn.learning import build_objective
    from milpbn.scores import LinearObjective, make_score

    clock = Clock(options["time_limit"], started=PROCESS_START)
    constraints = given_constraints(options)
    table = load_table(**{name: options[name] for name in DATA_OPTIONS})
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    show_notes(data.notes)
    constraints.check_names([v.name for v in data.variables], encoder.dropped)
    objective = build_objective(
        data,
        make_score(options["score"], ess=1.0 if options["ess"] is None else options["ess"]),
        given_space(options, constraints),
        clock=clock,
        memory_limit=options["memory_limit"],
    )
    assert isinstance(objective, LinearObjective)
    text = write_jkl(objective)
    if options["out"]:
        write_whole(options["out"], text)
    else:
        click.echo(text, nl=False)
