"""``milpbn explain``: why a model predicts a class, as contributions of the features."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.effects import ModelEffects
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import keep_data, single_class_model
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import Counts, Names, OutputFile, refuse_overwriting
from milpbn.cli.reasons import Answers, chosen_rows
from milpbn.widths import fitting, terminal_width
from milpbn.words import assignment, name_in_list, probability

# The value of --effects without names.
_ALL = ""

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.explanation import Explanation
    from milpbn.learning.model import Model


@command(short_help="Explain predictions, feature by feature.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@option(
    Group.CONTENT,
    "--row",
    "rows",
    type=Counts(),
    metavar="N[,N...]",
    help="Rows of FILE to explain in detail; the first one is 1.  [default: all, as CSV]",
)
@option(
    Group.CONTENT,
    "--effects",
    is_flag=False,
    flag_value=_ALL,
    metavar="[FEATURE,...]",
    help="Print effects instead of contributions: what each state of a feature adds to the "
    "log-odds, averaged over the rows of FILE; for all features, or for these.",
)
@option(
    Group.CONTENT,
    "--why",
    is_flag=True,
    help="Print the smallest set of features that fixes the prediction, whatever the others are.",
)
@option(
    Group.CONTENT,
    "--flip",
    is_flag=True,
    help="Print the smallest change of features that leads to another prediction.",
)
@option(
    Group.CONTENT,
    "--fixed",
    type=Names(),
    default=(),
    metavar="FEATURE,...",
    help="Features that --flip does not change: age,sex.",
)
@option(
    Group.CONTENT, "--of", metavar="CLASS", help="Class to explain.  [default: the predicted class]"
)
@option(
    Group.CONTENT,
    "--against",
    metavar="CLASS",
    help="Class to compare with.  [default: all others]",
)
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@option(
    Group.OUTPUT,
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Draw the contributions of one row, or the effects (png, svg, pdf).",
)
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="OUT.csv",
    help="Write to this file instead of stdout.",
)
@option(
    Group.CONTENT,
    "--strict",
    is_flag=True,
    help="Reject a FILE that lacks a column which the model uses.",
)
def explain(
    model_file: str,
    data_file: str,
    rows: tuple[int, ...] | None,
    effects: str | None,
    why: bool,
    flip: bool,
    fixed: tuple[str, ...],
    of: str | None,
    against: str | None,
    as_json: bool,
    plot: str | None,
    out: str | None,
    strict: bool,
) -> None:
    """Explain the predictions of MODEL.json for the rows of FILE (CSV, Parquet or ARFF).

    The log-odds of the predicted class are a sum of contributions, one per feature. A positive
    contribution speaks for the class. The sum is exact, also for rows with missing features.
    Without --row, the contributions of all rows are printed as CSV.

    \b
    Examples:
      milpbn explain model.json patients.csv --row 3
      milpbn explain model.json patients.csv --row 3 --plot row-3.png
      milpbn explain model.json patients.csv --out contributions.csv
      milpbn explain model.json patients.csv --row 3 --why --flip --fixed age,sex
      milpbn explain model.json patients.csv --effects age,income --plot effects.png
    """
    inputs = {"MODEL.json": model_file, "FILE": data_file}
    refuse_overwriting({"--plot": plot, "--out": out}, inputs)
    if fixed and not flip:
        raise click.UsageError("--fixed requires --flip")
    if why or flip:
        others = {"--effects": effects, "--of": of, "--against": against, "--plot": plot}
        if used := [name for name, value in others.items() if value is not None]:
            raise click.UsageError(f"--why and --flip cannot be combined with {used[0]}")
        answers = Answers(single_class_model(model_file), data_file, rows, strict, why, flip, fixed)
        with Outputs() as outputs:
            outputs.data(out, answers.json() if as_json else answers.text())
        return
    if effects is not None:
        given = {"--row": rows, "--of": of, "--against": against}
        if used := [name for name, value in given.items() if value is not None]:
            raise click.UsageError(f"--effects cannot be combined with {used[0]}")
        found = ModelEffects(single_class_model(model_file), data_file, effects, strict)
        with Outputs() as outputs:
            outputs.data(out, found.json() if as_json else found.text())
            outputs.write(plot, found.plot)
        return
    if plot and (rows is None or len(rows) != 1):
        raise click.UsageError("--plot requires one row, such as --row 1, or --effects")
    model = single_class_model(model_file)
    keep_data(model, {"--plot": plot, "--out": out})
    explanation = _explanation(model, data_file, rows, of, against, strict)
    with Outputs() as outputs:
        if as_json:
            outputs.data(out, _json(explanation))
        elif rows is None:
            outputs.data(out, _csv(explanation))
        else:
            width = None if out else terminal_width()
            target = model.encoder.target.name
            texts = [_text(explanation, k, target, width) for k in range(len(explanation))]
            outputs.data(out, "\n\n".join(texts) + "\n")
        title = f"{Path(data_file).name}, row {rows[0]}" if rows else ""
        outputs.write(plot, partial(_plot, explanation, title))


def _plot(explanation: Explanation, title: str, file: str) -> None:
    from milpbn.pictures import plot_waterfall

    plot_waterfall(explanation, file, title=title)


def _explanation(
    model: Model,
    file: str,
    rows: tuple[int, ...] | None,
    of: str | None,
    against: str | None,
    strict: bool,
) -> Explanation:
    import pandas as pd

    from milpbn.errors import OptionError
    from milpbn.explanation import explain_codes

    codes, numbers = chosen_rows(model, file, rows, strict)
    try:
        return explain_codes(
            model.network,
            model.encoder,
            codes,
            index=pd.Index(numbers, name="row"),
            of=of,
            against=against,
        )
    except OptionError as error:
        raise click.UsageError(f"--{error}") from None


def _csv(explanation: Explanation) -> str:
    table = explanation.contributions.copy()
    table.insert(0, "explained class", explanation.explained)
    table.insert(1, "log-odds", explanation.log_odds)
    return table.to_csv(lineterminator="\n")


def _json(explanation: Explanation) -> str:
    import json

    rows = [
        {"row": int(number), **explanation.to_dict(k)}
        for k, number in enumerate(explanation.states.index)
    ]
    return json.dumps({"rows": rows}, indent=1, allow_nan=False) + "\n"


def _text(explanation: Explanation, position: int, target: str, width: int | None) -> str:
    """The contributions of one row as a table, without the features that do not contribute."""
    told = explanation.to_dict(position)
    table = explanation.row(position)
    values = table.iloc[:, 1:]
    used = (values != 0).any(axis=1)
    used[target] = True
    rest = [n for n in table.index[~used] if n in explanation.states and n not in told["missing"]]
    given = {p for name in table.index[used] for p in explanation.parents.get(name, ())}
    notes = {
        "missing": told["missing"],
        "only in given": [name for name in rest if name in given],
        "no contribution": [name for name in rest if name not in given],
    }
    shown = name_in_list(str(told["class"]))
    lines = [
        f"row {explanation.states.index[position]}: {name_in_list(target)} = {shown}, "
        f"probability {probability(told['probability'])}",
        "",
        _table(told, values[used], width),
    ]
    told_names = [f"{what}: {', '.join(map(name_in_list, n))}" for what, n in notes.items() if n]
    return "\n".join([*lines, *([""] if told_names else []), *told_names])


def _table(told: dict[str, Any], values: pd.DataFrame, width: int | None) -> str:
    from milpbn.widths import aligned

    items = {item["variable"]: item for item in told["contributions"]}
    columns = {
        "feature": [*map(name_in_list, values.index), "log-odds"],
        "state": [*(_shown(items[name]["state"], "") for name in values.index), ""],
        "given": [*(_given(items[name]["given"]) for name in values.index), ""],
    }
    rivals = [f"against {name_in_list(str(name))}" for name in values.columns]
    for rival, own, total in zip(
        rivals, values.to_numpy().T, told["log_odds"].values(), strict=True
    ):
        columns[rival] = [*(f"{value:+z.3f}" for value in own), f"{total:+z.3f}"]
    if not any(columns["given"]):
        del columns["given"]
    widths = {name: max(map(len, [name, *cells])) for name, cells in columns.items()}
    kept = fitting(widths, [*reversed(rivals[1:]), "given"], width, gap=2)
    lines = zip(*([name, *columns[name]] for name in kept), strict=True)
    return aligned([list(line) for line in lines], left=sum(name not in rivals for name in kept))


def _given(states: dict[str, str | None]) -> str:
    return ", ".join(assignment(name_in_list(p), _shown(s, "missing")) for p, s in states.items())


def _shown(state: str | None, otherwise: str) -> str:
    return otherwise if state is None else name_in_list(state)
