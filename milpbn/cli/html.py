"""``milpbn report``: a model as one HTML file for colleagues."""

from __future__ import annotations

import click

from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import keep_data, single_class_model
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import Counts, OutputFile, refuse_overwriting
from milpbn.cli.rows import measured_rows, measured_rows_option


@command(short_help="Write a report about a model as one HTML file.")
@click.argument("model_file", metavar="MODEL.json")
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(".html", ".htm"),
    required=True,
    metavar="REPORT.html",
    help="Write the report to this file.",
)
@measured_rows_option("Rows to measure the model on.")
@option(
    Group.CONTENT,
    "--row",
    "explained",
    type=Counts(),
    metavar="N[,N...]",
    help="Rows to explain; the first one is 1.  [default: a clear, a wrong and a doubtful "
    "prediction]",
)
def report(model_file: str, out: str, file: str | None, explained: tuple[int, ...] | None) -> None:
    """Write a report about MODEL.json that opens in any browser.

    The report is a single file and loads nothing from elsewhere. It shows the network, the proof,
    how well rows are predicted, the importance of the features, explanations of a few rows, the
    score card, the probability tables, and the data and settings of the run. Arc margins, other
    structures and stability are shown if the model file has them; see `milpbn arcs`,
    `milpbn solve --best` and `milpbn stability`.

    \b
    Examples:
      milpbn report model.json --out report.html
      milpbn report model.json --test new-rows.csv --row 3,17 --out report.html
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file, "--test": file})
    from milpbn.reporting import html_report
    from milpbn.words import count

    model = single_class_model(model_file)
    keep_data(model, {"--out": out})
    rows = measured_rows(model, model_file, file)
    if rows is None:
        say(
            f"note: {model_file} does not say where its data are; to show how well rows are "
            "predicted, give rows with --test"
        )
    available = len(rows.codes) if rows else 0
    outside = [n for n in explained or () if not 1 <= n <= available]
    if outside:
        raise click.UsageError(
            f"--row {outside[0]}: there are {count(available, 'row')}, and the first one is 1"
        )
    positions = None if explained is None else [n - 1 for n in explained]
    page = html_report(model, rows, explained=positions)
    with Outputs() as outputs:
        outputs.data(out, page)
