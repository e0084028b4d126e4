"""``milpbn missing-curve``: accuracy against the number of missing features."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import (
    check_data_options,
    data_options,
    load_table,
    notes_on_incomplete_rows,
    show_notes,
)
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.options import setting_option
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import Counts, OutputFile, refuse_overwriting
from milpbn.cli.registries import default_classifiers

if TYPE_CHECKING:
    from milpbn.evaluation.missing_curve import CurvePoint


@command("missing-curve", short_help="Measure accuracy as features go missing.")
@data_options
@option(
    Group.METHOD,
    "--classifier",
    "classifiers",
    multiple=True,
    metavar="STRUCTURE+PARAMETERS",
    help_from=lambda: (
        f"Such as tan-cmi+cl, or svm; may be repeated.  [default: {default_classifiers()}]"
    ),
)
@option(
    Group.PROTOCOL,
    "--counts",
    type=Counts(),
    help="Numbers of missing features: 0,5,10.  [default: about a dozen, from 0 to all but one]",
)
@option(
    Group.PROTOCOL,
    "--repeats",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Repetitions for each number of missing features.",
)
@setting_option("score", "Score that structure searches maximise.", default="cr", shown="cr")
@setting_option(
    "max_parents",
    "Maximum number of parents per feature, including the class; the class is a root.",
)
@setting_option("smoothing")
@setting_option("time_limit", "Time limit for each classifier: 90s, 5m.")
@setting_option("seed", "Random seed for held-out rows, missing features and learners.")
@option(
    Group.OUTPUT, "--out", type=OutputFile(), metavar="CURVE.csv", help="Save the points as CSV."
)
@option(
    Group.OUTPUT,
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="CURVE.png",
    help="Plot the curves (png, svg, pdf).",
)
@option(Group.OUTPUT, "--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def missing_curve(ctx: click.Context, /, **options: Any) -> None:
    """Remove features from the test rows and measure how accuracy falls.

    Networks sum out missing features; the support vector machine (svm) gets the means of the
    training rows instead. The missing features are drawn at random for each row, and are the
    same for all classifiers. If the data have no test rows, a random third of the rows is held
    out. Ctrl-C keeps the finished part of the curve.

    \b
    Examples:
      milpbn missing-curve --dataset satimage --plot curve.png
      milpbn missing-curve --dataset vehicle --classifier nb+mm --classifier svm --out curve.csv
    """
    check_data_options(options)
    refuse_overwriting(
        {"--out": options["out"], "--plot": options["plot"]}, {"the data": options["file"]}
    )
    from milpbn.errors import OptionError
    from milpbn.evaluation.missing_curve import DEFAULT_CLASSIFIERS, check_classifier

    classifiers = options["classifiers"] or DEFAULT_CLASSIFIERS
    try:
        for name in classifiers:
            check_classifier(name)
    except OptionError as error:
        raise click.UsageError(error.on_command_line()) from None
    points, stopped = _points(options, classifiers)
    _deliver(options, points)
    ctx.exit(EXIT_STOPPED if stopped else 0)


def _points(options: dict[str, Any], classifiers: tuple[str, ...]) -> tuple[list[CurvePoint], bool]:
    """The points, and whether Ctrl-C stopped the run before the last one."""
    from milpbn.evaluation.missing_curve import MissingCurve, default_counts
    from milpbn.evaluation.protocol import hold_out

    def tell(line: str) -> None:
        if not options["quiet"]:
            say(line)

    table = load_table(options)
    show_notes([*table.notes, *notes_on_incomplete_rows(table)], tell)
    if not table.has_test:
        tell("note: the data have no test rows; a random third of the rows is held out")
        table = hold_out(table, 1 / 3, options["seed"])
    names = ("score", "smoothing", "max_parents", "time_limit", "seed")
    settings = {name: options[name] for name in names}
    curve = MissingCurve(table, classifiers, tell=tell, **settings)
    counts = options["counts"] or default_counts(curve.n_features)
    points: list[CurvePoint] = []
    try:
        for point in curve.points(counts, options["repeats"]):
            points.append(point)
            if len(points) % len(classifiers) == 0:
                tell(f"{point.missing} of {curve.n_features} features missing: done")
    except KeyboardInterrupt:
        whole = len(points) - len(points) % len(classifiers)
        if not whole:
            raise
        return points[:whole], True
    return points, False


def _deliver(options: dict[str, Any], points: list[CurvePoint]) -> None:
    import pandas as pd

    from milpbn.files import write_whole

    def plot(file: str) -> None:
        from milpbn.pictures import plot_missing_curve

        plot_missing_curve(points, file, title=options["dataset"] or Path(options["file"]).name)

    frame = pd.DataFrame([vars(point) for point in points])
    names = list(dict.fromkeys(frame["classifier"]))
    width = max(10, *(len(name) + 2 for name in names))
    lines = [f"{'missing':<8}" + "".join(f"{name:>{width}}" for name in names)]
    for count, rows in frame.groupby("missing", sort=False):
        shares = dict(zip(rows["classifier"], rows["accuracy"], strict=True))
        lines.append(f"{count:<8}" + "".join(f"{100 * shares[n]:>{width - 2}.2f} %" for n in names))
    with Outputs(quiet=options["quiet"]) as outputs:
        outputs.report("\n".join(lines))
        table = frame.to_csv(index=False, lineterminator="\n")
        outputs.write(options["out"], lambda file: write_whole(file, table))
        outputs.write(options["plot"], plot)
