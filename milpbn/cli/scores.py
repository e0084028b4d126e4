"""``milpbn scores``: write the local scores of a decomposable score for other solvers."""

from __future__ import annotations

from typing import Any

from milpbn.cli.data import (
    check_data_options,
    data_options,
    load_table,
    show_notes,
)
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.options import (
    check_score,
    given_settings,
    setting_option,
    structure_options,
)
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.cli.registries import Registered, decomposable_scores


@command(short_help="Write local scores for other solvers.")
@data_options
@setting_option(
    "score",
    "Decomposable score: a sum over families.",
    type=Registered(decomposable_scores),
    default="mdl",
    shown="mdl",
)
@setting_option("ess")
@structure_options
@setting_option("time_limit")
@setting_option("memory_limit")
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="X.jkl",
    help="Write to this file instead of stdout.",
)
def scores(**options: Any) -> None:
    """Write the score of every candidate parent set, in the format of GOBNILP (.jkl).

    Parent sets with a subset that scores at least as high are left out: no optimal structure
    needs them. Scores are natural logarithms; higher is better. `milpbn solve-scores` reads the
    file.

    \b
    Example:
      milpbn scores --dataset car --score bdeu --max-parents 3 --out car.jkl
    """
    from milpbn import PROCESS_START

    check_data_options(options)
    check_score(options)
    refuse_overwriting(
        {"--out": options["out"]},
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )
    from milpbn.clock import Clock
    from milpbn.interchange.jkl import write_jkl
    from milpbn.learning.classifier import encode
    from milpbn.learning.objective import build_objective

    clock = Clock(options["time_limit"], started=PROCESS_START)
    settings = given_settings(options)
    encoded = encode(load_table(options))
    show_notes(encoded.data.notes)
    assert settings.space.constraints is not None
    names = [v.name for v in encoded.data.variables]
    settings.space.constraints.check_names(names, encoded.encoder.dropped)
    objective = build_objective(
        encoded.data,
        settings.score,
        settings.space,
        clock=clock,
        options=settings.options,
    )
    with Outputs() as outputs:
        outputs.data(options["out"], write_jkl(objective))
