"""``milpbn card``: a model as points to be added up on paper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import keep_data, single_class_model
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.cli.rows import measured_rows, measured_rows_option
from milpbn.widths import terminal_width
from milpbn.words import assignment, count, name_in_list

if TYPE_CHECKING:
    from milpbn.explanation.card import CardLoss, CardTable, ScoreCard

# Characters per line if stdout is not a terminal.
_WIDTH = 100
# With more entries, a card takes several pages.
_LONG = 200


@command(short_help="Print a model as a score card.")
@click.argument("model_file", metavar="MODEL.json")
@option(
    Group.CONTENT,
    "--of",
    metavar="CLASS",
    help="Class that points speak for, against the rest.  [default: the second of two classes, or "
    "else every class in a column]",
)
@option(
    Group.CONTENT,
    "--points",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Largest number of points in a line. More points usually lose less by rounding.",
)
@measured_rows_option("Labelled rows on which to compare the card with the model.")
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the card as JSON.")
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(".csv"),
    metavar="CARD.csv",
    help="Also write the card as CSV.",
)
def card(
    model_file: str,
    of: str | None,
    points: int,
    file: str | None,
    as_json: bool,
    out: str | None,
) -> None:
    """Print MODEL.json as a score card: points per state, to be added up on paper.

    The points are the terms of the log-odds, rounded to whole numbers. Accuracy and log-loss of
    the model and of the card show what is lost by rounding. The card is for complete rows: a
    missing feature has no points, unless the model has a state for missing values.

    \b
    Examples:
      milpbn card model.json
      milpbn card model.json --of sick --points 20 --out card.csv
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file, "--test": file})
    from milpbn.errors import OptionError

    model = single_class_model(model_file)
    keep_data(model, {"--out": out})
    try:
        made = model.card(of=of, points=points)
    except OptionError as error:
        raise click.UsageError(f"--{error}") from None
    rows = measured_rows(model, model_file, file)
    loss = made.loss(model.network, rows.codes) if rows is not None else None
    if rows is None or loss is None or loss.rows == 0:
        loss = None
        why = (
            "has no complete row with a known class" if rows else "does not say where its data are"
        )
        say(
            f"note: {file or model_file} {why}; to measure what the card costs, give labelled rows "
            "with --test"
        )
    described = rows.described if rows else ""
    with Outputs() as outputs:
        if as_json:
            outputs.report(_json(made, loss, described))
        else:
            outputs.report(_text(made, loss, described, terminal_width() or _WIDTH))
            if (entries := sum(table.points.size for table in made.tables)) > _LONG:
                say(
                    f"note: the card has {entries:,} entries; --max-features 6, --max-parents 1 or "
                    "--penalty bic in milpbn solve give a model with a shorter one"
                )
        if out:
            outputs.data(out, made.to_frame().to_csv(index=False, lineterminator="\n"))


def _json(card: ScoreCard, loss: CardLoss | None, rows: str) -> str:
    import json
    from dataclasses import asdict

    told: dict[str, Any] = card.to_dict()
    if len(card.columns) == 1:
        told["probabilities"] = [
            {"points": total, "probability": p} for total, p in card.probabilities().items()
        ]
    told["loss"] = None if loss is None else {"measured_on": rows, **asdict(loss)}
    return json.dumps(told, indent=1, allow_nan=False)


def _text(card: ScoreCard, loss: CardLoss | None, rows: str, width: int) -> str:
    from milpbn.widths import aligned

    target = name_in_list(card.codes[0].name)
    one = len(card.columns) == 1
    if one:
        own = name_in_list(card.columns[0])
        head = [
            f"Score card: {target} = {own} against {name_in_list(card.against)}",
            f"Add up the points of every table. With {card.threshold} points or more, "
            f"{own} is predicted.",
        ]
    else:
        head = [
            f"Score card: {target} = {', '.join(map(name_in_list, card.columns))}",
            "Add up the points of every class. The class with the most points is predicted (the "
            "first, if tied).",
        ]
    blocks = ["\n".join(head)]
    blocks += [_block(card, table, width) for table in card.tables]
    if one:
        found = card.probabilities()
        lines = [["total", f"P({own})"], *([str(t), _per_cent(p)] for t, p in found.items())]
        blocks.append(aligned(lines, left=0))
    if loss is not None:
        blocks.append(_loss_text(loss, rows))
    return "\n\n".join(blocks)


def _block(card: ScoreCard, table: CardTable, width: int) -> str:
    """The points of one variable; with parents as columns, if there is one class and room."""
    from milpbn.widths import aligned

    is_class = table.variable == card.codes[0].name
    measure = card.encoder.measure(table.variable)
    name = name_in_list(table.variable) + (f" ({measure})" if measure else "")
    parents = table.scope if is_class else table.scope[:-1]
    seen = card.states(table)
    states = ["(start)"] if is_class else [*map(name_in_list, seen[-1])]
    given = list(_configurations(card, parents, seen))
    points = table.points.reshape(len(given), len(states), -1)
    if len(card.columns) == 1:
        heads = [" & ".join(words) or "points" for words in given]
        lines = [[name, *heads]]
        lines += [[state, *(str(p) for p in points[:, k, 0])] for k, state in enumerate(states)]
        text = aligned(lines)
        if max(map(len, text.splitlines())) <= width:
            return text
    heads = ["points"] if len(card.columns) == 1 else [*map(name_in_list, card.columns)]
    lines = [[name, *(["given"] if parents else []), *heads]]
    for g, words in enumerate(given):
        for k, state in enumerate(states):
            told = [", ".join(words)] if parents else []
            lines.append([state, *told, *map(str, points[g, k].tolist())])
    return aligned(lines, left=1 + bool(parents))


def _configurations(
    card: ScoreCard, parents: tuple[int, ...], seen: list[tuple[str, ...]]
) -> Iterator[list[str]]:
    names = [name_in_list(card.codes[p].name) for p in parents]
    for states in product(*seen[: len(parents)]):
        yield [assignment(n, name_in_list(s)) for n, s in zip(names, states, strict=True)]


def _loss_text(loss: CardLoss, rows: str) -> str:
    left = f", {count(loss.left_out, 'incomplete row')} left out" if loss.left_out else ""
    return "\n".join(
        [
            f"Model and card on {rows}{left}:",
            f"  accuracy  {_per_cent(loss.accuracy)} -> {_per_cent(loss.card_accuracy)}",
            f"  log-loss  {loss.log_loss:.4f} -> {loss.card_log_loss:.4f}",
        ]
    )


def _per_cent(p: float) -> str:
    return f"{100 * p:.2f} %"
